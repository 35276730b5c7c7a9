import { DETECTORS } from './detectors.ts';
import type { Detector, Span } from './span.ts';
import { indexTriggers } from './triggers.ts';

const INDEX = indexTriggers<Detector>(
  DETECTORS.flatMap(detector => detector.triggers.map(letters => ({ letters, value: detector }))),
);

/**
 * The secrets in a text whose heads begin in [from, until), in order, without overlap. Linear in the length of the text.
 * A span may end behind `until`; an empty one at the end of the text says that something goes on behind it.
 */
export function findSecrets(text: string, from = 0, until = text.length): Span[] {
  const spans: Span[] = [];
  let at = from;
  for (;;) {
    const met = INDEX.next(text, at);
    if (met === -1 || met >= until) return spans;
    at = met + 1;
    for (const detector of INDEX.at(text, met)) {
      const found = findAt(detector, text, met - (detector.offset ?? 0), from);
      if (found.length === 0) continue;
      for (const span of found) spans.push(span);
      at = Math.max(at, found.at(-1)?.to ?? 0);
      break;
    }
  }
}

function findAt(detector: Detector, text: string, at: number, from: number): readonly Span[] {
  const { head } = detector;
  if (at < 0) return [];
  head.lastIndex = at;
  if (!head.test(text)) return [];
  // A secret that begins before `from` was found before.
  return detector
    .find(text, at, head.lastIndex)
    .filter(span => span.from >= from && (span.to > span.from || span.to === text.length))
    .filter(span => !text.startsWith('[redacted:', span.from));
}
