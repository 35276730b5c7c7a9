import { type Containerd, startContainerd } from '../containerd.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { pids, startTicks, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface InJournal extends Stall {
  readonly containerd: Containerd;
  readonly pod: Pod;
  readonly container: PodContainer;
  readonly journaldPid: number;
  /** What journald has of containerd so far, oldest first; MESSAGE is an array of bytes where it is not UTF-8. */
  entries(): Promise<Record<string, unknown>[]>;
}

/** containerd whose log goes to journald, as on a node with systemd. Not a stall yet: real entries, really split. */
export function loggingToJournald(): Promise<InJournal> {
  return stalled(async (folder, undo) => {
    const containerd = undo.use(await startContainerd({ folder, stderr: 'journald' }));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const container = await pod.addContainer({ name: 'app' });
    const journaldPid = pids().find(pid => status(pid)?.comm === 'systemd-journal') ?? 0;
    // --all: without it every field of more than 4 kB is null
    const query = ['-t', 'containerd', '-o', 'json', '--all', '--no-pager', `_PID=${containerd.pid}`];
    const entries = async () => {
      const lines = await run('journalctl', query, 10_000);
      return lines.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : []));
    };
    return { containerd, pod, container, journaldPid, entries };
  });
}

/** The same with journald stopped (T): its sockets fill up, and what containerd logs stays where it is. */
export async function journaldStopped(): Promise<InJournal> {
  const logging = await loggingToJournald();
  const { journaldPid } = logging;
  const undo = new AsyncDisposableStack();
  undo.use(logging);
  undo.defer(() => signal(journaldPid, 'SIGCONT'));
  logging.folder.note({ kind: 'stopped', pid: journaldPid, startTicks: startTicks(journaldPid) ?? '' });
  signal(journaldPid, 'SIGSTOP');
  await until('journald to be stopped', 5000, () => status(journaldPid)?.state === 'T');
  return { ...logging, [Symbol.asyncDispose]: () => undo.disposeAsync() };
}
