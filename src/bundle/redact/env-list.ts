import { closingQuote, lengthOf, type Quote, quoteAt, quoteBefore } from './quotes.ts';
import { type Detector, NOTHING, type Span } from './span.ts';

/**
 * Values of environment lists, whatever they are: `process.env` of an OCI spec, `Env` of docker, `envs` of CRI, `env` of
 * a pod's manifest, the last also in quotes in an annotation. `["NAME=value"]` and `[{"name": …, "value": …}]`.
 *
 * Reads what is there and not JSON: a list that was cut in the middle of a value is masked up to the cut, and no further
 * than its line where it stands in a log.
 */
export const envList: Detector = {
  triggers: ['env'],
  head: /envs?(?=\\{0,15}")/iy,
  find(text, at, end) {
    const quote = quoteBefore(text, at);
    if (quote === null || quote.char !== '"' || quoteAt(text, end)?.level !== quote.level) return NOTHING;
    const list = /\s{0,40}:\s{0,40}\[/y;
    list.lastIndex = end + lengthOf(quote);
    if (list.exec(text) === null) return NOTHING;
    return valuesOf(text, list.lastIndex, quote);
  },
};

/** What a line of a list printed over several lines begins with; anything else is another line of a log. */
const LINE_OF_LIST = /\s{1,200}(?:["{}[\],\\]|$)/y;

function valuesOf(text: string, start: number, quote: Quote): readonly Span[] {
  const spans: Span[] = [];
  const isOnOneLine = !/^[ \t]*\r?\n/.test(text.slice(start, start + 40));
  let depth = 0;
  let key: string | null = null;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"' || char === '\\') {
      const opened = quoteAt(text, at);
      if (opened?.char !== '"' || opened.level !== quote.level) return spans;
      const from = at + lengthOf(opened);
      const to = closingQuote(text, from, opened);
      const word = text.slice(from, to);
      const equals = depth === 0 ? word.indexOf('=') : -1;
      if (equals !== -1) pushValue(spans, text, from + equals + 1, to);
      if (key !== null && /^value$/i.test(key)) pushValue(spans, text, from, to);
      key = depth > 0 && key === null ? word : null;
      // Behind the closing quote; of a string that was cut, to the line end.
      at = text[to] === '\n' ? to - 1 : to + lengthOf(opened) - 1;
    } else if (char === '{' || char === '[') {
      depth++;
    } else if (char === '}' || char === ']') {
      if (depth === 0) return spans;
      depth--;
    } else if (char === ',') {
      key = null;
    } else if (char === '\n') {
      LINE_OF_LIST.lastIndex = at;
      if (isOnOneLine || !LINE_OF_LIST.test(text)) return spans;
    }
  }
  // The text ended in the list: in a window of a larger body it goes on.
  return [...spans, { from: text.length, to: text.length, kind: 'env' }];
}

function pushValue(spans: Span[], text: string, from: number, to: number): void {
  if (to > from && !text.startsWith('[redacted', from)) spans.push({ from, to, kind: 'env' });
}

/**
 * An OCI config.json with the names of `process.env` alone: `["PATH=/bin"]` becomes `["PATH"]`. Works on text that is not
 * whole, or not JSON.
 */
export function specEnvNamesOnly(config: Buffer): Buffer {
  const text = config.toString('latin1');
  const pieces: string[] = [];
  let last = 0;
  for (const head of text.matchAll(/(?<=")envs?(?=")/gi)) {
    if (head.index < last) continue;
    for (const { from, to } of envList.find(text, head.index, head.index + head[0].length)) {
      if (from === to) continue;
      pieces.push(text.slice(last, text[from - 1] === '=' ? from - 1 : from));
      last = to;
    }
  }
  return last === 0 ? config : Buffer.from(pieces.join('') + text.slice(last), 'latin1');
}
