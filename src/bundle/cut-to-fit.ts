/** What is left of a larger body is not worth an entry below this: some twenty lines of a log. */
export const WORTH_KEEPING_BYTES = 4096;

/** How far from the cut a line end is looked for; a longer line is cut where it is. */
const LINE_SEARCH_BYTES = 64 * 1024;

/** At most `bytes` of a body, cut at a line end where one is near. The slice shares the body's memory. */
export function cutToFit(body: Buffer, bytes: number, keep: 'head' | 'tail'): Buffer {
  if (bytes >= body.length) return body;
  if (bytes <= 0) return body.subarray(0, 0);
  if (keep === 'head') {
    const lineEnd = body.lastIndexOf(0x0a, bytes - 1);
    return body.subarray(0, lineEnd >= bytes - LINE_SEARCH_BYTES && lineEnd >= 0 ? lineEnd + 1 : bytes);
  }
  const from = body.length - bytes;
  const lineEnd = body.subarray(from, from + LINE_SEARCH_BYTES).indexOf(0x0a);
  return body.subarray(lineEnd >= 0 ? from + lineEnd + 1 : from);
}
