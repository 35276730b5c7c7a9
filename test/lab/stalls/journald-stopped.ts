import type { ContainerdOptions } from '../containerd.ts';
import type { LabFolder } from '../folder.ts';
import { pids, startTicks, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface InJournal extends Stall, AppPod {
  readonly journaldPid: number;
  /** What journald has of containerd so far, oldest first; MESSAGE is an array of bytes where it is not UTF-8. */
  entries(): Promise<Record<string, unknown>[]>;
}

type Options = Omit<ContainerdOptions, 'folder' | 'stderr'>;

/** `loggingToJournald` in a folder that is there already. */
export async function loggingIn(
  folder: LabFolder,
  undo: AsyncDisposableStack,
  options: Options = {},
): Promise<Omit<InJournal, keyof Stall>> {
  const app = await runAppPod(folder, undo, { ...options, stderr: 'journald' });
  const journaldPid = await until('journald', 5000, () => pids().find(pid => status(pid)?.comm === 'systemd-journal'));
  // --all: without it every field of more than 4 kB is null
  const query = ['-t', 'containerd', '-o', 'json', '--all', '--no-pager', `_PID=${app.containerd.pid}`];
  const entries = async () => {
    const lines = await run('journalctl', query, 10_000);
    return lines.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : []));
  };
  return { ...app, journaldPid, entries };
}

/** containerd whose log goes to journald, as on a node with systemd. Not a stall yet: real entries, really split. */
export const loggingToJournald = (options?: Options): Promise<InJournal> =>
  stalled((folder, undo) => loggingIn(folder, undo, options));

/** The same with journald stopped (T): its sockets fill up, and what containerd logs stays where it is. */
export function journaldStopped(): Promise<InJournal> {
  return stalled(async (folder, undo) => {
    const facts = await loggingIn(folder, undo);
    const { journaldPid } = facts;
    folder.note({ kind: 'stopped', pid: journaldPid, startTicks: startTicks(journaldPid) ?? '' });
    undo.defer(() => signal(journaldPid, 'SIGCONT'));
    signal(journaldPid, 'SIGSTOP');
    await until('journald to be stopped', 5000, () => status(journaldPid)?.state === 'T');
    return facts;
  });
}
