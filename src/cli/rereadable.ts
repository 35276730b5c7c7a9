/** Lets a source be read more than once: a file is opened again, a pipe is kept in memory, as packed as it came. */
export function rereadable(path: string, open: () => AsyncIterable<Uint8Array>): () => AsyncIterable<Uint8Array> {
  if (path !== '-') return open;
  const kept: Uint8Array[] = [];
  let whole = false;
  return async function* read() {
    if (whole) {
      yield* kept;
      return;
    }
    for await (const chunk of open()) {
      kept.push(chunk);
      yield chunk;
    }
    whole = true;
  };
}
