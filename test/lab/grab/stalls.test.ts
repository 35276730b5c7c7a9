import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startContainerd } from '../containerd.ts';
import { during } from '../during.ts';
import { SETTLED_MS } from '../eval/case.ts';
import { expectNamed } from '../eval/expect-named.ts';
import { DUMP, FILESYSTEM_FROZEN, IN_TIME_MS } from '../eval/stalls.ts';
import { status } from '../proc.ts';
import { labUnavailable } from '../requirements.ts';
import { filesystemFrozen } from '../stalls/filesystem-frozen.ts';
import { manyThreads } from '../stalls/many-threads.ts';
import { openBundle } from './bundle.ts';
import { expectUnharmed, gapsOf, grab } from './grab.ts';
import { stallcap } from './stallcap.ts';

const QUICK = ['--samples', '2', '--interval', '500ms'];

describe.skipIf(labUnavailable())('a grab while', () => {
  it("containerd's filesystem is frozen does not write there, though it is started there, and shows containerd in D", () =>
    during(filesystemFrozen(), async ({ folder, disk, pod, container, containerd, thread, initPid }) => {
      // Less than a second in D is work; and the clocks of two CPUs of a virtual machine may be seconds apart.
      await sleep(SETTLED_MS);
      const run = await stallcap(folder, ['grab', pod.id, ...QUICK], { cwd: disk.point });
      const file = run.stdout.toString().trimEnd();
      try {
        expect(run, run.stderr).toMatchObject({ exit: 0, left: [] });
        expect(run.ms).toBeLessThan(IN_TIME_MS);
        expect(['/run/stallcap', '/dev/shm']).toContain(dirname(file));
        expect(run.stderr).toMatch(
          /(?:on the disk of the container runtime|did not answer in time), so the bundle goes to \/\S+, (?:in memory|a disk as well)/,
        );
        expect(statSync(file).mode & 0o777).toBe(0o600);
        const bundle = await openBundle(file);
        expect(gapsOf(bundle)).toEqual([]);
        expect(bundle.threads('node/blocked.txt')).toContainEqual(
          expect.objectContaining({ pid: containerd.pid, tid: thread.tid, state: 'D', wchan: thread.wchan }),
        );
        await expectNamed(FILESYSTEM_FROZEN.cases[0], file);
        // Where two threads of it want to write there, the one that has waited longer is named.
        const waiting = bundle
          .threads('node/blocked.txt')
          .filter(({ pid, state }) => pid === containerd.pid && state === 'D');
        const named = /^Verdict: .*\bcontainerd (?:\(thread )?(\d+)\b/m.exec(run.stderr)?.[1];
        expect(
          waiting.map(({ tid }) => tid),
          run.stderr,
        ).toContain(Number(named));
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
        expect(['/run/stallcap', '/dev/shm']).toContain(dirname(file));
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
