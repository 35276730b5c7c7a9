export interface CappedOutput {
  /** `full` is called when a head has all that it wants. */
  take(chunk: Buffer, full: () => void): void;
  /** There was more than is kept. */
  cut(): boolean;
  bytes(): Buffer;
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
    bytes() {
      const all = Buffer.concat(chunks);
      if (all.length <= maxBytes) return all;
      return keep === 'head' ? all.subarray(0, maxBytes) : all.subarray(all.length - maxBytes);
    },
  };
}
