import { closeSync, constants, openSync, readSync } from 'node:fs';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import { errnoOf, outcomeOf } from '../outcome.ts';
import type { Reading } from './files.ts';

const PATH = '/dev/kmsg';

/** Longest record that the kernel gives: PRINTK_MESSAGE_MAX of kernel/printk (2 kB), escaped, with its dictionary. */
const RECORD_BYTES = 16 << 10;

/** Above any log buffer (log_buf_len) in use. */
const LARGEST_LOG_BYTES = 64 << 20;

/**
 * The kernel's log as records of /dev/kmsg (kernel Documentation/ABI/testing/dev-kmsg): `level,seq,µs,flags;message`
 * and lines ` KEY=value`, each line ended. One read gives one record; EAGAIN is the end. EPIPE: records were overwritten
 * while we read, the next read goes on behind the gap.
 */
export function readKernelLog(
  maxBytes: number,
  alive: () => void,
): { readonly reading: Reading; readonly body: Buffer } {
  const startMs = monotonicMs();
  const done = (result: Pick<Reading, 'outcome' | 'detail'>, body: Buffer = Buffer.alloc(0)) => ({
    reading: { ...result, startMs, durationMs: toMicroseconds(monotonicMs() - startMs), bytes: body.length },
    body,
  });
  let fd: number;
  try {
    fd = openSync(PATH, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return done(outcomeOf(errnoOf(error), PATH));
  }
  try {
    const { records, dropped, overwritten, failed } = readRecords(fd, maxBytes, alive);
    const notes = [
      ...(failed === null ? [] : [failed]),
      ...(dropped === 0 ? [] : [`${dropped} older records left out: newest ${maxBytes} bytes kept`]),
      ...(overwritten === 0 ? [] : [`the kernel overwrote records ${overwritten} times while they were read`]),
    ];
    const body = Buffer.concat(records);
    if (notes.length > 0) return done({ outcome: 'truncated', detail: notes.join('; ') }, body);
    return done({ outcome: body.length === 0 ? 'empty' : 'ok' }, body);
  } finally {
    closeSync(fd);
  }
}

function readRecords(fd: number, maxBytes: number, alive: () => void) {
  const records: Buffer[] = [];
  const buffer = Buffer.allocUnsafe(RECORD_BYTES);
  let kept = 0;
  let first = 0;
  let overwritten = 0;
  let failed: string | null = null;
  // Bounded, since a kernel that floods its log could write as fast as we read.
  for (let total = 0; total < LARGEST_LOG_BYTES; ) {
    try {
      const read = readSync(fd, buffer, 0, RECORD_BYTES, null);
      if (read === 0) break;
      records.push(Buffer.from(buffer.subarray(0, read)));
      kept += read;
      total += read;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'EPIPE') overwritten += 1;
      else {
        if (errno !== 'EAGAIN') failed = errno;
        break;
      }
    }
    while (kept > maxBytes && first < records.length) {
      kept -= records[first]?.length ?? 0;
      first += 1;
    }
    alive();
  }
  return { records: records.slice(first), dropped: first, overwritten, failed };
}
