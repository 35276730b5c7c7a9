/** A file as a stream, in pieces of `size` bytes. */
export async function* pieces(file: Uint8Array, size = 4096): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
}
