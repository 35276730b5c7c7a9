import type { FileResult } from '../../host/port.ts';
import type { Capture } from '../collector.ts';
import { deadlineOf } from '../evidence-of.ts';
import { LOG_BYTES, oldestWanted } from './log-turn.ts';
import { fromLineStart, since } from './window.ts';

const READ_MS = 4000;

/**
 * The lines of a log file since --since, its newest 16 MiB at most. `truncated` only when older lines that were asked for
 * are missing; a file that was rotated in the meantime says so in `detail`.
 */
export async function readLogFile(capture: Capture, path: string): Promise<FileResult> {
  const [file] = await capture.host.readRisky(
    [{ path, maxBytes: LOG_BYTES, keep: 'tail', withStat: true, follow: true }],
    deadlineOf(capture, READ_MS),
  );
  if (file === undefined) throw new RangeError('one request, no result');
  if (file.body.length === 0) return file;
  const tail = file.outcome === 'truncated';
  const modifiedMs = Number(BigInt(file.stat?.mtimeNs ?? 0) / 1_000_000n);
  const { body, cut } = since(tail ? fromLineStart(file.body) : file.body, oldestWanted(capture), modifiedMs);
  // What was cut off by time shows that all that was asked for is there.
  if (tail && !cut) return { ...file, body };
  const { detail: _, ...rest } = file;
  return { ...rest, outcome: body.length > 0 ? 'ok' : 'empty', body };
}

/** The first of these that exists. Null when none does. */
export async function firstThat(capture: Capture, paths: readonly string[]): Promise<string | null> {
  const found = await capture.host.readRisky(
    paths.map(path => ({ path, what: 'stat' })),
    deadlineOf(capture, 1500),
  );
  return found.find(({ outcome }) => outcome === 'ok' || outcome === 'timeout')?.path ?? null;
}
