import type { Output, Sealed } from '../../../src/host/output.ts';

/** An output that keeps the bytes, for tests of what comes after the sink. */
export class MemoryOutput implements Output {
  readonly chunks: Buffer[] = [];
  sealed = false;
  bytes = 0;
  readonly current = 'memory';

  write(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
  }

  async seal(): Promise<Sealed> {
    this.sealed = true;
    return { path: '/memory/bundle.tar.gz', bytes: this.bytes, abandoned: [] };
  }

  get file(): Buffer {
    return Buffer.concat(this.chunks);
  }
}
