import { offsetMs } from '../clock.ts';
import type { ProcessLook } from '../port.ts';
import { readText } from '../proc-file.ts';
import type { ItemKind } from './items-job.ts';
import { MOST_HANGS, notTried } from './job.ts';

const KIND = 'files of a process';

/** Processes, as a probe is asked to look at them. */
export const looksRequest: ItemKind<number, ProcessLook> = {
  name: 'look',
  request: items => ({ op: 'look', items }),
  decode(_pid, { startMs, ...look }: ProcessLook & { readonly startMs: number }) {
    return { result: { ...look, offsetMs: offsetMs(startMs) }, bytes: 0 };
  },
  giveUp: (pid, { outcome, detail, openFile }) => ({
    result: unseen(pid, outcome, openFile === null ? detail : `${detail} in ${openFile}`),
  }),
  refuse(pid, hangs) {
    const already = hangs(KIND);
    return already < MOST_HANGS ? null : { result: unseen(pid, 'timeout', notTried(already)) };
  },
  describe: pid => `/proc/${pid}`,
  kindOf: () => KIND,
};

/** What answers of any process, read here: see safe-read.ts. */
export function unseen(pid: number, outcome: ProcessLook['outcome'], detail: string): ProcessLook {
  const comm = readText(`/proc/${pid}/comm`).text?.replace(/\n$/, '') ?? null;
  const status = readText(`/proc/${pid}/status`).text;
  const times = { offsetMs: offsetMs(), durationMs: 0 };
  return { pid, comm, status, stat: null, cwd: null, threads: [], clock: null, ...times, outcome, detail };
}
