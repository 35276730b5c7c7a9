import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { goroutineDump } from '../../../src/collectors/goroutine-dump.ts';
import { goroutineSignal } from '../../../src/collectors/goroutine-signal.ts';
import { shimAnswers } from '../../../src/collectors/shim-answers.ts';
import { type Collected, collect } from '../../collectors/collect.ts';
import { expectAnswers, expectWhole, steps } from '../../collectors/dump-expectations.ts';
import { during } from '../during.ts';
import { status, threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { labUnavailable } from '../requirements.ts';
import { type AppPod, runAppPod } from '../stalls/app-pod.ts';
import { type Stall, stalled } from '../stalls/stall.ts';
import { delaySyscall } from '../strace.ts';
import { until } from '../wait.ts';

/** How long the umount is held: time to stop containerd and to fill the pipe. */
const HELD_MS = 6000;

const blockedInPipe = (pid: number): boolean => threads(pid).some(({ wchan }) => wchan.endsWith('pipe_write'));
/** Threads that strace stops at a call which will not be made: such a call has no number any more. */
const held = (pid: number): readonly number[] =>
  threads(pid).flatMap(({ tid, state, syscall }) => (state === 't' && syscall === -1 ? [tid] : []));

/** Not one that strace lets go on at once: all of them stop for it at each call. */
async function heldForGood(pid: number): Promise<number | undefined> {
  const before = held(pid);
  await sleep(200);
  return held(pid).find(tid => before.includes(tid));
}

/**
 * A Delete that wants to log one line, into a pipe that somebody's eight signals have filled while containerd is stopped: it waits
 * with the container's lock in hand. The line says that the rootfs could not be unmounted (containerd pkg/process/init.go).
 */
function deleteBehindFullPipe(): Promise<AppPod & Stall> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo);
    const { containerd, pod, initPid } = app;
    undo.use(await delaySyscall(folder, pod.shimPid, 'umount2', HELD_MS, 'EPERM'));
    signal(initPid, 'SIGKILL');
    const umount = await until('the umount in Delete', HELD_MS, () => heldForGood(pod.shimPid));
    undo.defer(() => signal(containerd.pid, 'SIGCONT'));
    signal(containerd.pid, 'SIGSTOP');
    await until('containerd to be stopped', 5000, () => status(containerd.pid)?.state === 'T');
    // Two that come at once are one to the shim: on a busy machine it takes more of them.
    for (let sent = 0; sent < 8 || !blockedInPipe(pod.shimPid); sent += 1) {
      if (sent > 100) throw new Error('the pipe is not full after 100 signals');
      signal(pod.shimPid, 'SIGUSR1');
      await sleep(50);
    }
    await until('the umount to fail', 2 * HELD_MS, () => !held(pod.shimPid).includes(umount));
    return app;
  });
}

/** Outcome of State, by container. */
function statesIn({ evidence }: Collected): ReadonlyMap<string | null, string> {
  const calls = JSON.parse(evidence.get('runtime/shim.json')?.body.toString() ?? '[]') as readonly {
    readonly call: string;
    readonly container: string | null;
    readonly outcome: string;
  }[];
  return new Map(calls.filter(({ call }) => call === 'State').map(({ container, outcome }) => [container, outcome]));
}

describe.skipIf(labUnavailable())(
  'a shim whose log is full, since containerd is stopped and somebody has signalled it',
  () => {
    it('answers State again once the pipe is drained, and the record says what the drain did', () =>
      during(deleteBehindFullPipe(), async ({ containerd, pod, container }) => {
        const before = statesIn(await collect(pod.id, [shimAnswers]));
        expect(before.get(container.id)).toBe('timeout');
        expect(before.get(pod.id)).toBe('ok');

        const collected = await collect(pod.id, [goroutineSignal, shimAnswers, goroutineDump]);
        expectWhole(collected);
        expect(steps(collected)).toMatch(
          /for reading: ok; \d+ threads of the shim were blocked in a write to a full pipe, which reading ends/,
        );
        expect(statesIn(collected).get(container.id)).not.toBe('timeout');
        const fifo = collected.evidence.get('shim/log-fifo.txt')?.body.toString() ?? '';
        expect(fifo.match(/=== END goroutine stack dump ===/g)?.length).toBeGreaterThanOrEqual(5);
        expect(fifo).toContain('failed to cleanup rootfs mount');
        expect(blockedInPipe(pod.shimPid)).toBe(false);
        signal(containerd.pid, 'SIGCONT');
        await expectAnswers(containerd, pod);
      }));
  },
);
