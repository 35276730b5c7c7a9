import { describe, expect, it } from 'vitest';
import type { Collector } from '../../src/collectors/collector.ts';
import { containerThreads, containerThreadsAgain } from '../../src/collectors/container-threads.ts';
import { firstLook } from '../../src/collectors/first-look.ts';
import { goroutineDump } from '../../src/collectors/goroutine-dump.ts';
import { goroutineSignal } from '../../src/collectors/goroutine-signal.ts';
import { ps } from '../../src/collectors/ps.ts';
import { shimFiles } from '../../src/collectors/shim-files.ts';
import { shimThreads } from '../../src/collectors/shim-threads.ts';
import { NODE_THREADS, sweep } from '../../src/collectors/sweep.ts';
import { parseThreadDump } from '../../src/formats/thread-dump.ts';
import { startContainerd } from '../lab/containerd.ts';
import { during } from '../lab/during.ts';
import { alive, startTicks, threads } from '../lab/proc.ts';
import { signal } from '../lab/processes.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { mmapLockHeld } from '../lab/stalls/mmap-lock-held.ts';
import { mountFuseStopped } from '../lab/stalls/mount-fuse-stopped.ts';
import { until } from '../lab/wait.ts';
import { type Collected, collect } from './collect.ts';
import { withPod } from './dump-expectations.ts';

const textOf = ({ evidence }: Collected, path: string): string => {
  const entry = evidence.get(path);
  if (entry === undefined) throw new Error(`no ${path} among ${[...evidence.keys()].join(' ')}`);
  return entry.body.toString();
};
const dumpOf = (collected: Collected, path: string) => parseThreadDump(textOf(collected, path));

const tidsOf = (pid: number): readonly number[] => threads(pid).map(({ tid }) => tid);

/** Every thread that was there all the time, and none that was not: the Go runtime starts one more when it likes. */
function expectBetween(before: readonly number[], seen: readonly number[], after: readonly number[]): void {
  expect(seen).toEqual(expect.arrayContaining(before.filter(tid => after.includes(tid))));
  expect(seen.filter(tid => !after.includes(tid) && !before.includes(tid))).toEqual([]);
  expect(new Set(seen).size).toBe(seen.length);
}

describe.skipIf(labUnavailable())('threads of a pod', () => {
  it('are in the bundle once before the signal and once per round, the shim, its inits and its helpers', () =>
    withPod({}, async (_, pod) => {
      const app = await pod.addContainer({ name: 'app' });
      const before = tidsOf(pod.shimPid);
      const collected = await collect(pod.id, [firstLook, containerThreads, shimThreads, containerThreadsAgain]);
      expect([...collected.evidence.keys()].sort()).toEqual(
        [
          ...[1, 2, 3].map(sample => `containers/${app.id}/threads-${sample}.txt`),
          ...[1, 2, 3].map(sample => `containers/${pod.id}/threads-${sample}.txt`),
          'shim/children-1.txt',
          ...[1, 2, 3].map(sample => `shim/threads-${sample}.txt`),
        ].sort(),
      );
      const shim = dumpOf(collected, 'shim/threads-1.txt');
      expect(shim.processes).toEqual([expect.objectContaining({ pid: pod.shimPid, comm: 'containerd-shim' })]);
      expectBetween(
        before,
        shim.threads.map(({ tid }) => tid),
        tidsOf(pod.shimPid),
      );
      expect(shim.threads.every(({ stack, syscall }) => stack !== null && syscall !== null)).toBe(true);
      const [init] = dumpOf(collected, `containers/${app.id}/threads-1.txt`).threads;
      expect(init).toMatchObject({ tid: app.initPid, state: 'S', wchan: 'hrtimer_nanosleep' });
      expect(collected.evidence.get('shim/children-1.txt')?.outcome).toBe('empty');
      expect(collected.notGot).toEqual([]);
    }));

  it('of the first sample are what the entry saw, if it looked at this very shim', () =>
    withPod({}, async (_, pod) => {
      const asSeen = (mark: number) => ({
        firstLook: (sandbox: Collected['sandbox'], host: Collected['host']) => ({
          matchedBy: 'id' as const,
          shims: sandbox.shims.map(({ pid }) => ({ ...host.look(pid), offsetMs: mark })),
          firstStackMs: mark,
        }),
      });
      const elsewhere = (sandbox: Collected['sandbox'], host: Collected['host']) => {
        const look = asSeen(-17).firstLook(sandbox, host);
        return { ...look, shims: look.shims.map(shim => ({ ...shim, pid: process.pid })) };
      };
      const covered = await collect(pod.id, [firstLook], asSeen(-17));
      expect(covered.evidence.get('shim/threads-1.txt')?.at?.offsetMs).toBe(-17);
      const notCovered = await collect(pod.id, [firstLook], { firstLook: elsewhere });
      expect(notCovered.evidence.get('shim/threads-1.txt')).toMatchObject({ outcome: 'ok' });
      expect(notCovered.evidence.get('shim/threads-1.txt')?.at?.offsetMs).toBeGreaterThan(0);
      const reused = await collect(pod.id, [firstLook], {
        ...asSeen(-17),
        target: sandbox => ({ ...sandbox, shims: sandbox.shims.map(shim => ({ ...shim, startTicks: '1' })) }),
      });
      expect(reused.evidence.get('shim/threads-1.txt')).toMatchObject({
        outcome: 'gone',
        detail: expect.stringContaining('belongs to another process'),
      });
      expect(textOf(reused, 'shim/threads-1.txt')).not.toContain('=====');
    }));

  it('say once that the shim or an init went in the middle', () =>
    withPod({}, async (_, pod) => {
      const app = await pod.addContainer({ name: 'app' });
      // The file that tells it goes with the container.
      const { initPid } = app;
      const kill: Collector = {
        name: 'kill',
        phase: 'sweep',
        deadlineMs: 20_000,
        async *collect() {
          for (const pid of [pod.shimPid, initPid]) signal(pid, 'SIGKILL');
          await until('their end', 10_000, () => !alive(pod.shimPid) && startTicks(initPid) === null);
        },
      };
      const { evidence } = await collect(pod.id, [containerThreads, kill, shimThreads, containerThreadsAgain]);
      expect(evidence.get('shim/threads-2.txt')?.outcome).toBe('gone');
      expect(evidence.has('shim/threads-3.txt')).toBe(false);
      expect(evidence.get(`containers/${app.id}/threads-1.txt`)?.outcome).toBe('ok');
      expect(evidence.get(`containers/${app.id}/threads-2.txt`)?.outcome).toBe('gone');
      expect(evidence.has(`containers/${app.id}/threads-3.txt`)).toBe(false);
    }));

  it('lie in a folder per shim where a pod has more than one, and each is signalled once', () =>
    during(startContainerd(), async containerd => {
      const one = await containerd.runPod({ name: 'web-0' });
      const two = await containerd.runPod({ name: 'web-1' });
      // As a pod of docker: one sandbox with a shim per container.
      const target: NonNullable<Parameters<typeof collect>[2]>['target'] = (sandbox, { sandboxes }) => ({
        ...sandbox,
        shims: sandboxes.filter(({ id }) => id === one.id || id === two.id).flatMap(({ shims }) => shims),
      });
      const collected = await collect(one.id, [firstLook, shimThreads, goroutineSignal, goroutineDump], { target });
      for (const { shimPid } of [one, two]) {
        expect(dumpOf(collected, `shim/${shimPid}/threads-1.txt`).processes[0]?.pid).toBe(shimPid);
        expect(dumpOf(collected, `shim/${shimPid}/threads-2.txt`).processes[0]?.pid).toBe(shimPid);
        expect(textOf(collected, `shim/${shimPid}/goroutines.raw.log`)).toContain(` pid=${shimPid} `);
      }
      expect(collected.signals.map(({ dump }) => dump)).toEqual(['complete', 'complete']);
    }));

  it('of runc and runc init that hang below the shim show what they hang in', () =>
    during(mountFuseStopped(), async ({ pod, runcPid, thread }) => {
      const collected = await collect(pod.id, [containerThreads, shimFiles]);
      const { processes, threads } = dumpOf(collected, 'shim/children-1.txt');
      expect(processes.map(({ pid }) => pid)).toEqual(expect.arrayContaining([runcPid, thread.pid]));
      const held = threads.find(({ tid }) => tid === thread.tid);
      expect(held?.state).toBe('S');
      expect(held?.stack?.join('\n')).toContain('request_wait_answer');
      const rows = textOf(collected, 'shim/children.txt').split('\n');
      expect(rows).toContainEqual(expect.stringMatching(new RegExp(`^${runcPid} ${pod.shimPid} S \\d+ runc$`)));
      expect(rows).toContainEqual(
        expect.stringMatching(new RegExp(`^${thread.pid} ${runcPid} S \\d+ runc:\\[2:INIT\\]$`)),
      );
    }));
});

describe.skipIf(labUnavailable())('what /proc says about the shim', () => {
  it('is kept file by file, with links and descriptors', () =>
    withPod({}, async (_, pod) => {
      const collected = await collect(pod.id, [shimFiles]);
      const outcomes = [...collected.evidence.values()].map(({ path, outcome }) => `${path} ${outcome}`);
      const names = [
        'status',
        'stat',
        'cgroup',
        'limits',
        'io',
        'sched',
        'mountinfo',
        'cmdline',
        'links.txt',
        'fd.txt',
      ];
      expect(outcomes).toEqual([...names.map(name => `shim/${name} ok`), 'shim/children.txt ok']);
      expect(textOf(collected, 'shim/cmdline').split('\0')).toEqual(expect.arrayContaining(['-id', pod.id]));
      expect(textOf(collected, 'shim/links.txt')).toMatch(/^exe -> \/.*containerd-shim-runc-v2$/m);
      expect(textOf(collected, 'shim/links.txt')).toContain(`cwd -> ${pod.bundle}\n`);
      expect(textOf(collected, 'shim/fd.txt')).toContain(`2 -> ${pod.bundle}/log flags 0100001\n`);
      expect(textOf(collected, 'shim/fd.txt')).toMatch(/^1 -> \/dev\/null flags \d+$/m);
      expect(textOf(collected, 'shim/children.txt')).toMatch(
        new RegExp(`^${pod.initPid} ${pod.shimPid} S \\d+ sleep$`, 'm'),
      );
    }));
});

describe.skipIf(labUnavailable())('the sweep over the node', () => {
  it('has the rows of ps, and every thread of the pod with its stack', () =>
    withPod({}, async (_, pod) => {
      const app = await pod.addContainer({ name: 'app' });
      const before = tidsOf(pod.shimPid);
      const collected = await collect(pod.id, [sweep, ps]);
      const ours = textOf(collected, 'node/processes.txt');
      const theirs = textOf(collected, 'node/ps.txt');
      expect(ours.split('\n')[0]).toBe(theirs.split('\n')[0]);
      const rowsOf = (text: string) =>
        text.split('\n').filter(line => Number(line.trim().split(/\s+/)[0]) === pod.shimPid);
      expectBetween(
        before,
        rowsOf(ours).map(row => Number(row.trim().split(/\s+/)[1])),
        tidsOf(pod.shimPid),
      );
      expect(rowsOf(ours)[0]?.trim().split(/\s+/).slice(6)).toEqual(rowsOf(theirs)[0]?.trim().split(/\s+/).slice(6));
      const blocked = dumpOf(collected, 'node/blocked.txt').threads.map(({ tid }) => tid);
      expect(blocked).toEqual(expect.arrayContaining([pod.initPid, app.initPid, ...before]));
      expect(collected.evidence.get('node/ps.txt')?.source).toMatch(/\(exit code 0, \d+ ms\)$/);
    }));

  it('asks ps for threads on a small node, and for processes alone on a large one', () =>
    withPod({}, async (_, pod) => {
      const rows = async (threadCount: number) => {
        const noting: Collector = {
          name: 'noting',
          phase: 'sweep',
          deadlineMs: 1000,
          // biome-ignore lint/correctness/useYield: it brings nothing
          async *collect({ notes }) {
            notes.set(NODE_THREADS, threadCount);
          },
        };
        const theirs = textOf(await collect(pod.id, [noting, ps]), 'node/ps.txt');
        return theirs.split('\n').filter(line => Number(line.trim().split(/\s+/)[0]) === pod.shimPid);
      };
      expect((await rows(2000)).length).toBe(threads(pod.shimPid).length);
      expect(await rows(2001)).toEqual([expect.stringMatching(new RegExp(`^ *${pod.shimPid} +${pod.shimPid} `))]);
    }));

  it('goes on past processes whose cmdline hangs, names them, and says that ps hung', () =>
    withPod({}, async (_, pod) =>
      during(mmapLockHeld(), async ({ pids }) => {
        const collected = await collect(pod.id, [sweep, ps]);
        const [hostage] = pids;
        const entry = collected.evidence.get('node/processes.txt');
        expect(entry?.detail).toMatch(new RegExp(`\\bcmdline of (?:[^;]*\\b)?${hostage}\\b[^;]* did not answer`));
        const row = textOf(collected, 'node/processes.txt')
          .split('\n')
          .find(line => Number(line.trim().split(/\s+/)[0]) === hostage);
        expect(row).toMatch(/\[mmap-hostage\]$/);
        expect(dumpOf(collected, 'node/blocked.txt').threads.map(({ tid }) => tid)).toContain(pod.initPid);
        expect(collected.evidence.get('node/ps.txt')?.outcome).toBe('timeout');
      }),
    ));
});
