import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transform, Transformed } from '../transform.ts';
import { isBinary } from './binary.ts';
import { RedactedCopy } from './redacted-copy.ts';
import { findSecrets } from './scan.ts';
import type { Span } from './span.ts';

export interface RedactOptions {
  /** More to take out, by the user: `--pattern`. Each needs the flag `g`. Their speed is the user's. */
  readonly patterns?: readonly RegExp[];
}

/** Bytes looked at in one go, about 2 ms. */
const WINDOW = 96 * 1024;
/** A head this close to the end of a window is left to the next: what a detector needs to see fits in it, a private key of 16,384 bits, too. */
const OVERLAP = 16 * 1024;
/** What stands before a name decides how its value ends. */
const CONTEXT = 128;

/**
 * Takes the secrets out of a text: each becomes `[redacted:<kind>]`, all else stays as it is, byte by byte. Linear in the
 * length of the body. A body without secrets is returned as it came; else it is copied once. Binary data is left as it is,
 * and `skipped` says so.
 */
export function redact(body: Buffer, options: RedactOptions = {}): Transformed {
  const steps = redactInSteps(body, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same for one short text, in any characters. */
export function redactText(text: string, options: RedactOptions = {}): string {
  const spans = allSpans(text, options).filter(({ from, to }) => to > from);
  let result = '';
  let last = 0;
  for (const span of spans) {
    result += text.slice(last, span.from) + replacement(span);
    last = span.to;
  }
  return last === 0 ? text : result + text.slice(last);
}

/** As the writer takes it: gives the event loop its turn between windows, so that deadlines are kept meanwhile. */
export function redaction(options: RedactOptions = {}): Transform {
  return {
    async body(body) {
      const steps = redactInSteps(body, options);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        await nextTurn();
      }
    },
    text: text => redactText(text, options),
  };
}

function* redactInSteps(body: Buffer, options: RedactOptions): Generator<undefined, Transformed> {
  if (isBinary(body)) return { body, redactions: 0, kinds: {}, skipped: 'binary' };
  const copy = new RedactedCopy(body);
  const kinds: Record<string, number> = {};
  let redactions = 0;
  let start = 0;
  let size = WINDOW;
  while (start < body.length) {
    const end = Math.min(body.length, start + size);
    const base = Math.max(0, start - CONTEXT);
    // latin1: one character is one byte, so positions in the text are positions in the body.
    const text = body.toString('latin1', base, end);
    const until = end === body.length ? text.length : text.length - OVERLAP;
    const spans = allSpans(text, options, start - base, until);
    const last = spans.at(-1)?.to ?? 0;
    if (last === text.length && end < body.length) {
      // A secret that goes on behind the window: the same again in one twice as large, which stays linear in all.
      size *= 2;
      continue;
    }
    for (const span of spans) {
      if (span.to === span.from) continue;
      copy.replace(base + span.from, base + span.to, replacement(span));
      kinds[span.kind] = (kinds[span.kind] ?? 0) + 1;
      redactions++;
    }
    start = base + Math.max(until, last);
    size = WINDOW;
    if (start < body.length) yield;
  }
  return { body: copy.finish(), redactions, kinds };
}

function allSpans(text: string, { patterns = [] }: RedactOptions, from = 0, until = text.length): Span[] {
  const secrets = findSecrets(text, from, until);
  if (patterns.length === 0) return secrets;
  const asked = patterns.flatMap(pattern =>
    [...text.matchAll(pattern)]
      .map(match => ({ from: match.index, to: match.index + match[0].length, kind: 'pattern' }))
      .filter(span => span.to > span.from && span.from >= from && span.from < until),
  );
  return merged([...secrets, ...asked]);
}

/** In order, the overlapping ones made one. */
function merged(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.from - b.from || b.to - a.to);
  const result: Span[] = [];
  for (const span of sorted) {
    const last = result.at(-1);
    if (last !== undefined && span.from < last.to) {
      result[result.length - 1] = { ...last, to: Math.max(last.to, span.to) };
    } else {
      result.push(span);
    }
  }
  return result;
}

function replacement({ kind, quote }: Span): string {
  return quote === true ? `"[redacted:${kind}]"` : `[redacted:${kind}]`;
}
