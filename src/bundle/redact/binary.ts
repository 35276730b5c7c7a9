import { isUtf8 } from 'node:buffer';

const SAMPLES = 16;
const SAMPLE_BYTES = 4096;
/** Of the bytes that are not NUL: text in Latin-1 or with terminal colours has a few in a hundred. */
const MAX_ODD = 0.2;

/**
 * Whether a body is no text: sixteen samples of it are rich in control characters or in what is not UTF-8. NULs do not
 * count: they separate a cmdline, and a log that was truncated under its writer begins with a hole of them.
 */
export function isBinary(body: Buffer): boolean {
  let odd = 0;
  let counted = 0;
  const step = Math.max(SAMPLE_BYTES, Math.floor(body.length / SAMPLES));
  for (let at = 0; at < body.length; at += step) {
    const sample = body.subarray(at, at + SAMPLE_BYTES);
    const high = isUtf8(trimmed(sample)) ? 0 : 1;
    for (const byte of sample) {
      if (byte === 0) continue;
      counted++;
      if (byte >= 0x80) odd += high;
      else if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) odd++;
    }
  }
  return odd > counted * MAX_ODD;
}

/** Without the first and the last character that is not ASCII: the sample may have cut them. */
function trimmed(sample: Buffer): Buffer {
  let from = 0;
  while (from < 3 && isContinuation(sample[from])) from++;
  let to = sample.length;
  while (sample.length - to < 3 && isContinuation(sample[to - 1])) to--;
  if ((sample[to - 1] ?? 0) >= 0xc0) to--;
  return sample.subarray(from, Math.max(from, to));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
