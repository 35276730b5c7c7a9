import type { Evidence } from '../../../src/bundle/evidence.ts';
import { AS_IT_IS, type Transform } from '../../../src/bundle/transform.ts';
import { type BundleWriter, type Closed, createBundleWriter } from '../../../src/bundle/writer.ts';
import { FOLDER, manifest, plan, STARTED_AT } from './documents.ts';
import { MemoryOutput } from './memory-output.ts';

export const MiB = 1024 * 1024;

export interface Made {
  readonly file: Buffer;
  readonly closed: Closed;
  readonly output: MemoryOutput;
}

export interface MakeOptions {
  readonly maxBytes?: number;
  readonly transform?: Transform;
  readonly folder?: string;
}

/** A writer on memory, with the plan of documents.ts. */
export function openBundle(options: MakeOptions = {}): {
  readonly writer: BundleWriter;
  readonly output: MemoryOutput;
} {
  const output = new MemoryOutput();
  const start = performance.now();
  const writer = createBundleWriter({
    folder: options.folder ?? FOLDER,
    output,
    maxBytes: options.maxBytes ?? 128 * MiB,
    startedAt: STARTED_AT,
    now: () => ({ wall: new Date().toISOString(), offsetMs: performance.now() - start }),
    plan,
    transform: options.transform ?? AS_IT_IS,
  });
  return { writer, output };
}

export async function closeBundle({ writer, output }: ReturnType<typeof openBundle>, hurry = false): Promise<Made> {
  const closed = await writer.close({ summary: () => '# Summary\n', manifest, deadlineMs: 1000, hurry });
  return { file: output.file, closed, output };
}

/** A sealed bundle of these entries. */
export async function makeBundle(entries: readonly Evidence[], options?: MakeOptions): Promise<Made> {
  const open = openBundle(options);
  for (const entry of entries) {
    // A log is handed over with its memory, and tests look at it again.
    await open.writer.add({ ...entry, body: Buffer.from(entry.body) }, ORIGIN);
  }
  return await closeBundle(open);
}

export const ORIGIN = { collector: 'made-up', phase: 'files', offsetMs: 12.5, durationMs: 3 } as const;

export function evidence(path: string, body: Buffer | string, more: Partial<Evidence> = {}): Evidence {
  return { path, source: `/proc/1/${path}`, outcome: 'ok', body: Buffer.from(body as string), ...more };
}

/** Bytes that do not compress, the same in every run. */
export function noise(bytes: number, seed = 1): Buffer {
  const body = Buffer.allocUnsafe(bytes);
  let state = seed >>> 0;
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    body[at] = state >>> 24;
  }
  return body;
}

/** Lines of a log as containerd writes them, `bytes` long or a little less. */
export function logLines(bytes: number): Buffer {
  const lines: string[] = [];
  let length = 0;
  for (let n = 0; ; n++) {
    const id = ((n * 2654435761) % 2 ** 32).toString(16).padStart(8, '0').repeat(8);
    const line = `time="2026-11-29T11:${String(n % 60).padStart(2, '0')}:08.683431260Z" level=info msg="StopContainer for \\"${id}\\"" line=${n}\n`;
    if (length + line.length > bytes) return Buffer.from(lines.join(''));
    lines.push(line);
    length += line.length;
  }
}
