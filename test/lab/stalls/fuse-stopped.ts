import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bindfs, type FuseMount, stopFuse } from '../bindfs.ts';
import { startChild } from '../child.ts';
import { threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface FuseStopped extends Stall {
  readonly fuse: FuseMount;
  /** A file whose read was taken up by the daemon and is not answered any more. */
  readonly file: string;
  /** Reads `file`; has been sent SIGKILL, and is in D. */
  readonly readerPid: number;
}

/**
 * A FUSE daemon that stops after it has taken a request: who waits for the answer cannot even be killed, until the
 * daemon goes on or dies. New requests wait too, but can be killed.
 * @param files more files to have on the mount, by name
 */
export function fuseStopped(files: Readonly<Record<string, Buffer | string>> = {}): Promise<FuseStopped> {
  return stalled(async (folder, undo) => {
    // direct_io: the reader itself waits for the answer, not for a page (which could be killed). The rate: the
    // daemon takes a request at once and sleeps before it answers, so that it can be stopped in between.
    const fuse = await bindfs(folder, 'fuse', ['-odirect_io', '--read-rate=64k']);
    for (const [name, body] of Object.entries(files)) writeFileSync(join(fuse.backing, name), body);
    const file = join(fuse.point, 'asked');
    writeFileSync(join(fuse.backing, 'asked'), Buffer.alloc(2 ** 20));
    const { pid: readerPid } = await startChild(folder, 'cat', [file]);
    await until('the reader to wait for its answer', 10_000, () => waits(readerPid));
    await sleep(100);
    await stopFuse(fuse, undo);
    signal(readerPid, 'SIGKILL');
    await until('the reader to be in D in spite of SIGKILL', 5000, () => waits(readerPid)?.state === 'D');
    return { fuse, file, readerPid };
  });
}

const waits = (pid: number) => threads(pid).find(({ stack }) => stack.includes('request_wait_answer'));
