export interface CappedOutput {
  /** `full` is called when a head has all that it wants. */
  take(chunk: Buffer, full: () => void): void;
  /** There was more than is kept. */
  cut(): boolean;
  /** One behind the other; not joined, since they are on their way through a pipe. */
  pieces(): readonly Buffer[];
}

/** The first or the last `maxBytes` of a stream. */
export function cappedOutput(maxBytes: number, keep: 'head' | 'tail'): CappedOutput {
  const chunks: Buffer[] = [];
  let kept = 0;
  let cut = false;
  return {
    take(chunk, full) {
      if (keep === 'head' && kept + chunk.length > maxBytes) {
        cut = true;
        full();
        if (kept >= maxBytes) return;
      }
      chunks.push(chunk);
      kept += chunk.length;
      while (keep === 'tail' && kept - (chunks[0]?.length ?? 0) > maxBytes) {
        kept -= chunks.shift()?.length ?? 0;
        cut = true;
      }
    },
    cut: () => cut || kept > maxBytes,
    pieces() {
      const spare = Math.max(0, kept - maxBytes);
      if (spare === 0) return chunks;
      const at = keep === 'head' ? chunks.length - 1 : 0;
      return chunks.map((chunk, index) => {
        if (index !== at) return chunk;
        return keep === 'head' ? chunk.subarray(0, chunk.length - spare) : chunk.subarray(spare);
      });
    },
  };
}
