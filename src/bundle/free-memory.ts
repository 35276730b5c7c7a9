/** Smaller ones are left to the garbage collector, which takes its time: of logs of 16 MiB it lets several stand. */
const WORTH_IT_BYTES = 1 << 20;

/** Gives back the memory of bytes that nobody looks at any more: every view of it is empty from now on. */
export function freeMemory({ buffer, byteLength }: Buffer): void {
  if (byteLength >= WORTH_IT_BYTES && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
