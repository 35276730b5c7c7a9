import { closingQuote, lengthOf, type Quote, quoteAt, quoteBefore } from './quotes.ts';
import { type Detector, NOTHING, type Span } from './span.ts';

/**
 * Values of environment lists, whatever they are: `process.env` of an OCI spec, `Env` of docker, `envs` of CRI, `env` of
 * a pod's manifest, the last also in quotes in an annotation. `["NAME=value"]` and `[{"name": …, "value": …}]`.
 *
 * Reads what is there and not JSON: a list that was cut in the middle of a value is masked up to the cut.
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

function valuesOf(text: string, start: number, quote: Quote): readonly Span[] {
  const spans: Span[] = [];
  let depth = 0;
  let key: string | null = null;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === ']' && depth === 0) return spans;
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (char === ',') key = null;
    else if (char === '"' || char === '\\') {
      const opened = quoteAt(text, at);
      if (opened?.char !== '"' || opened.level !== quote.level) return spans;
      const from = at + lengthOf(opened);
      const to = closingQuote(text, from, opened);
      const word = text.slice(from, to);
      const isString: boolean = depth === 0;
      const equals = isString ? word.indexOf('=') : -1;
      if (equals !== -1) pushValue(spans, text, from + equals + 1, to);
      if (!isString && key !== null && /^value$/i.test(key)) pushValue(spans, text, from, to);
      key = isString || key !== null ? null : word;
      at = to + (to < text.length && text[to] !== '\n' ? lengthOf(opened) - 1 : 0);
    }
    if (depth < 0) return spans;
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
