import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startContainerd } from '../containerd.ts';
import { during } from '../during.ts';
import { alive, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { labUnavailable } from '../requirements.ts';
import { type ContainerdGone, containerdDead, containerdStopped } from '../stalls/containerd-stopped.ts';
import { dockerStopped } from '../stalls/docker-stopped.ts';
import { filesystemFrozen } from '../stalls/filesystem-frozen.ts';
import { manyThreads } from '../stalls/many-threads.ts';
import { mountFuseStopped } from '../stalls/mount-fuse-stopped.ts';
import { openBundle } from './bundle.ts';
import { expectUnharmed, gapsOf, grab } from './grab.ts';
import { stallcap } from './stallcap.ts';

const QUICK = ['--samples', '2', '--interval', '500ms'];
const DUMP = /^=== BEGIN goroutine stack dump ===\n[\s\S]*\n=== END goroutine stack dump ===$/;
/** Default of --timeout, and the grace in which a seal may end. */
const IN_TIME_MS = 33_000;

describe.skipIf(labUnavailable())('a grab while', () => {
  it("containerd's filesystem is frozen does not write there, though it is started there, and shows containerd in D", () =>
    during(filesystemFrozen(), async ({ folder, disk, pod, container, containerd, thread, initPid }) => {
      // Less than a second in D is work; and the clocks of two CPUs of a virtual machine may be seconds apart.
      await sleep(6000);
      const run = await stallcap(folder, ['grab', pod.id, ...QUICK], { cwd: disk.point });
      const file = run.stdout.toString().trimEnd();
      try {
        expect(run, run.stderr).toMatchObject({ exit: 0, left: [] });
        expect(run.ms).toBeLessThan(IN_TIME_MS);
        expect(dirname(file)).toBe('/run/stallcap');
        expect(run.stderr).toMatch(
          /(?:on the disk of the container runtime|did not answer in time), so the bundle goes to memory/,
        );
        expect(statSync(file).mode & 0o777).toBe(0o600);
        const bundle = await openBundle(file);
        expect(gapsOf(bundle)).toEqual([]);
        expect(bundle.threads('node/blocked.txt')).toContainEqual(
          expect.objectContaining({ pid: containerd.pid, tid: thread.tid, state: 'D', wchan: thread.wchan }),
        );
        // In the verdict when it is old enough for one, else beside what is blocked of the pod.
        expect(run.stderr).toMatch(
          new RegExp(`^(?:Verdict|Besides): .*\\bcontainerd (?:\\(thread )?${thread.tid}\\b`, 'm'),
        );
        // containerd has let go of the container; CRI's record of it is what cannot be written.
        expect(status(initPid)).toBeNull();
        expect(bundle.text('node/cri-store.txt')).toContain(container.id);
        expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
      } finally {
        if (file !== '') rmSync(file, { force: true });
      }
    }));

  it('the place that was asked for is frozen ends in time, with the bundle in memory and the reason', () =>
    during(filesystemFrozen(), async ({ folder, disk, pod }) => {
      const run = await stallcap(folder, ['grab', pod.id, ...QUICK, '-o', `${disk.point}/`, '--json'], {});
      const { bundle: file, abandoned } = JSON.parse(run.stdout.toString());
      try {
        expect(run.ms).toBeLessThan(IN_TIME_MS);
        expect(dirname(file)).toBe('/run/stallcap');
        expect(abandoned).toEqual([
          { place: expect.stringContaining(disk.point), reason: expect.stringMatching(/^no answer for \d+ ms$/) },
        ]);
        expect(run.stderr).toContain(`Not written to ${disk.point}`);
        // Its writer cannot be killed before the disk answers; nobody waited for it.
        expect(run.left).toEqual([expect.stringMatching(/ D$/)]);
        expect(gapsOf(await openBundle(file))).toEqual([]);
      } finally {
        rmSync(file, { force: true });
      }
    }));

  const drained = async ({ folder, pod, container, containerd, initPid }: ContainerdGone, why: RegExp) => {
    const { bundle, run } = await grab(folder, [pod.id.slice(0, 12), ...QUICK], { exit: 3 });
    // What containerd would have said is all that is missing.
    expect(gapsOf(bundle).filter(gap => !/^(?:runtime\/|ctr )/.test(gap))).toEqual([]);
    expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
    const [signalled] = bundle.manifest.signals;
    expect(signalled).toMatchObject({ pid: pod.shimPid, outcome: 'sent', dump: 'complete' });
    expect(signalled?.steps.map(({ step, result }) => `${step}: ${result}`).join('\n')).toMatch(why);
    expect(bundle.threads(`containers/${container.id}/threads-1.txt`)).toMatchObject([{ tid: initPid }]);
    expect(bundle.text(`containers/${container.id}/status.json`)).toContain(`"Pid":${initPid}`);
    expect(run.ms).toBeLessThan(IN_TIME_MS);
    expect([pod.shimPid, pod.initPid, initPid].every(alive)).toBe(true);
    return { containerd, containers: [pod, { id: container.id, initPid }] };
  };

  it('containerd is stopped has the dump out of the fifo, and all goes on when it does', () =>
    during(containerdStopped(), async stall => {
      const { containerd, containers } = await drained(stall, /it is stopped \(T\); so the fifo is opened before/);
      expect(status(containerd.pid)?.state).toBe('T');
      signal(containerd.pid, 'SIGCONT');
      await expectUnharmed(containerd, containers);
    }));

  it('containerd is dead has the dump out of the fifo, and the shim serves the next one', () =>
    during(containerdDead(), async stall => {
      const { containerd, containers } = await drained(stall, /no containerd serves .*; so the fifo is opened before/);
      await containerd.start();
      await expectUnharmed(containerd, containers);
    }));

  it('dockerd is stopped has its record against /proc, and does not wait for its answers one after another', () =>
    during(dockerStopped(), async ({ folder, docker, container }) => {
      const { bundle, run } = await grab(folder, [container.id.slice(0, 12), ...QUICK], { exit: 3 });
      expect(gapsOf(bundle).filter(gap => !gap.startsWith('docker --host'))).toEqual([]);
      expect(JSON.parse(bundle.text(`containers/${container.id}/config.v2.json`))).toMatchObject({
        State: { Running: true, Pid: container.initPid },
      });
      expect(bundle.text('node/processes.txt')).not.toMatch(new RegExp(`^ *${container.initPid} .*sleep`, 'm'));
      expect(bundle.text('node/processes.txt')).toMatch(new RegExp(`^ *${docker.pid} +${docker.pid} +\\d+ T`, 'm'));
      expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
      expect(bundle.manifest.stuckProbes).toMatchObject([{ request: 'run', item: expect.stringContaining('docker') }]);
      expect(run.ms).toBeLessThan(20_000);
      expect(status(docker.pid)?.state).toBe('T');
    }));

  it('a volume does not answer has the stack of runc init, which waits in S', () =>
    during(mountFuseStopped(), async ({ folder, pod, thread, runcPid }) => {
      const { bundle, run } = await grab(folder, [pod.id.slice(0, 12), ...QUICK], { exit: 0 });
      expect(gapsOf(bundle)).toEqual([]);
      for (const look of [1, 2, 3]) {
        const waiting = bundle.threads(`shim/children-${look}.txt`).find(({ tid }) => tid === thread.tid);
        expect(waiting).toMatchObject({ pid: thread.pid, state: 'S', wchan: 'request_wait_answer' });
        expect(waiting?.stack?.join('\n')).toMatch(/\brequest_wait_answer\+[\s\S]*\bfuse_/);
      }
      expect(bundle.threads('shim/children-1.txt').map(({ pid }) => pid)).toContain(runcPid);
      expect(bundle.threads('node/blocked.txt').map(({ tid }) => tid)).toContain(thread.tid);
      expect(run.stderr).toMatch(
        /runc:\[2:INIT\] \d+ \(shim children\) in newfstatat, request_wait_answer, state S, for/,
      );
    }));

  it('5,000 threads sleep on the node has a row for each, and stays small', () =>
    during(startContainerd(), async containerd => {
      await using crowd = await manyThreads({ processes: 100, threadsEach: 50 });
      const pod = await containerd.runPod({ name: `cart-${process.pid}`, namespace: 'shop' });
      const container = await pod.addContainer({ name: 'app' });
      const { bundle } = await grab(containerd.folder, [pod.id, ...QUICK], { exit: 0 });
      const rows = bundle.text('node/processes.txt').split('\n');
      expect(rows.filter(row => row.includes('many-threads')).length).toBeGreaterThanOrEqual(crowd.total);
      expect(bundle.manifest.observer.peakRssBytes).toBeLessThan(150e6);
      await expectUnharmed(containerd, [pod, container]);
    }));
});
