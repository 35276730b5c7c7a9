import { constants, createDeflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib';

/** Level 1: the grab competes with a node in trouble for its CPU. Ends on a byte boundary, no last block. */
const OPTIONS: ZlibOptions = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };

const LEAST_CHUNK_BYTES = 1024;
const MOST_CHUNK_BYTES = 16 * 1024;

/** Below this, a trip to the thread pool takes longer than the work. */
const AT_ONCE_BYTES = 64 * 1024;

/**
 * One entry of the tar as deflate blocks that look back into no other entry, flushed to a byte boundary. Put one after
 * the other, such pieces are one deflate stream. So an entry that turns out too large is left out without a trace, and
 * what a dropped connection has brought can be read to its last byte.
 */
export async function deflateEntry(raw: readonly Buffer[]): Promise<readonly Buffer[]> {
  const length = raw.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length <= AT_ONCE_BYTES) {
    // zlib hands out a slice of a buffer: copied, so that the bundle in memory is as large as it says. That buffer has 16 KiB
    // unless told otherwise: with 20,000 small entries 500 MB wait for the garbage collector, of the right size 200.
    const chunkSize = Math.min(Math.max(length, LEAST_CHUNK_BYTES), MOST_CHUNK_BYTES);
    return [Buffer.from(deflateRawSync(Buffer.concat(raw, length), { ...OPTIONS, chunkSize }))];
  }
  return await new Promise((resolve, reject) => {
    const packed: Buffer[] = [];
    const deflate = createDeflateRaw({ ...OPTIONS, chunkSize: 64 * 1024 });
    deflate.on('data', (chunk: Buffer) => packed.push(chunk));
    deflate.on('end', () => resolve(packed));
    deflate.on('error', reject);
    // One write per large piece: the body of a log is handed over as it is, not copied to stand beside its header.
    for (const chunk of joinSmall(raw)) deflate.write(chunk);
    deflate.end();
  });
}

/** Joins neighbours below 64 KiB (tar headers, padding): each write is a trip to the thread pool. */
function joinSmall(chunks: readonly Buffer[]): readonly Buffer[] {
  const joined: Buffer[] = [];
  let small: Buffer[] = [];
  const flush = () => {
    if (small.length > 0) joined.push(Buffer.concat(small));
    small = [];
  };
  for (const chunk of chunks) {
    if (chunk.length < AT_ONCE_BYTES) {
      small.push(chunk);
    } else {
      flush();
      joined.push(chunk);
    }
  }
  flush();
  return joined;
}
