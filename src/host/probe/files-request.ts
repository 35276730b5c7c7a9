import { offsetMs } from '../clock.ts';
import type { FileRequest, FileResult } from '../port.ts';
import type { Reading } from './files.ts';
import type { ItemKind } from './items-job.ts';
import { MOST_HANGS, notTried } from './job.ts';

/** Files, as a probe is asked for them. */
export const filesRequest: ItemKind<FileRequest, FileResult> = {
  name: 'files',
  request: items => ({ op: 'files', items }),
  decode(item, reading: Reading, body) {
    return { result: toFileResult(item.path, reading, body), bytes: reading.bytes };
  },
  giveUp: (item, { outcome, detail }) => ({ result: unread(item.path, outcome, detail) }),
  refuse(item, hangs) {
    const already = hangs(kindOfPath(item.path));
    return already < MOST_HANGS ? null : { result: unread(item.path, 'timeout', notTried(already)) };
  },
  describe: item => item.path,
  kindOf: item => kindOfPath(item.path),
};

/** A copy of the bytes: the frame that they came in is larger, and would be kept alive by them. Unless they are most of it. */
export function toFileResult(path: string, { startMs, bytes, ...rest }: Reading, frame: Buffer): FileResult {
  const own = frame.subarray(0, bytes);
  const body = bytes > frame.buffer.byteLength / 2 ? own : Buffer.from(own);
  return { path, body, ...rest, offsetMs: offsetMs(startMs) };
}

/** Of a file that brought nothing. */
export function unread(path: string, outcome: FileResult['outcome'], detail: string): FileResult {
  return { path, outcome, body: Buffer.alloc(0), detail, offsetMs: offsetMs(), durationMs: 0 };
}

/** Reads that hang for the same reason: files of processes, of a kernel interface, of one part of the tree. */
function kindOfPath(path: string): string {
  if (/^\/proc\/\d/.test(path)) return 'files of a process';
  const [, first = '', second = ''] = path.split('/');
  return first === 'proc' || first === 'sys' ? `/${first}` : `/${first}/${second}`;
}
