import { readdirSync, readFileSync } from 'node:fs';
import { startChild } from './child.ts';
import type { Containerd } from './containerd.ts';
import type { Pod } from './pod.ts';
import { status } from './proc.ts';
import { end } from './processes.ts';
import { until } from './wait.ts';

/** A `start` or `delete` helper of a shim that hangs in the middle, before it has done anything. */
export interface ShimHelper extends AsyncDisposable {
  readonly pid: number;
}

/** The file that each action opens first; held up there, it has touched neither the pod nor its bundle. */
const OPENS_FIRST = { start: 'config.json', delete: 'runtime' } as const;

/**
 * Runs the helper as containerd does (runtime/v2/binary.go): in the bundle directory, its output in a pipe. Ending it kills
 * it where it hangs.
 */
export async function hungHelper(containerd: Containerd, pod: Pod, action: 'start' | 'delete'): Promise<ShimHelper> {
  const file = OPENS_FIRST[action];
  const held = ['-f', '-qq', '-o/dev/null', '-P', file, '-P', `${pod.bundle}/${file}`];
  const delayed = ['-etrace=openat', '-einject=openat:delay_enter=300000000'];
  const shim = ['/usr/bin/containerd-shim-runc-v2', '-namespace', 'k8s.io', '-address', containerd.socket];
  const flags = ['-publish-binary', '/usr/bin/containerd', '-id', pod.id];
  const bundle = action === 'delete' ? ['-bundle', pod.bundle] : [];
  const argv = ['strace', ...held, ...delayed, ...shim, ...flags, ...bundle, action];
  const tracer = await startChild(containerd.folder, 'sh', [
    '-c',
    'cd "$1" && shift && exec "$@"',
    'sh',
    pod.bundle,
    ...argv,
  ]);
  const pid = await until(`the helper for ${action} to hang`, 10_000, () => heldChild(tracer.pid));
  containerd.folder.process(pid, 'containerd-shim');
  return {
    pid,
    // The helper first: let go by strace, it would go on.
    [Symbol.asyncDispose]: async () => {
      await end(pid);
      await end(tracer.pid);
    },
  };
}

/** The traced child with a thread that strace holds up in openat, by then with several threads. */
function heldChild(tracer: number): number | null {
  const children = readFileSync(`/proc/${tracer}/task/${tracer}/children`, 'utf8').trim().split(' ').map(Number);
  const helper = children.find(pid => status(pid)?.comm === 'containerd-shim');
  if (helper === undefined) return null;
  const tids = readdirSync(`/proc/${helper}/task`);
  const stopped = tids.filter(tid =>
    / \(containerd-shim\) t /.test(readFileSync(`/proc/${helper}/task/${tid}/stat`, 'utf8')),
  );
  return tids.length > 1 && stopped.length > 0 ? helper : null;
}
