import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DoctorDocument } from '../../../src/capture/doctor/doctor.ts';
import { bindfs } from '../bindfs.ts';
import { during } from '../during.ts';
import { type Bundle, openBundle } from '../grab/bundle.ts';
import { expectUnharmed } from '../grab/grab.ts';
import { type Run, stallcap } from '../grab/stallcap.ts';
import { alive } from '../proc.ts';
import { end } from '../processes.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { stalled } from '../stalls/stall.ts';
import { until } from '../wait.ts';
import { expectOnlyMissing, expectShimStacks, grabThrough, outcomesOf, runThrough } from './grab-through.ts';
import { bindOver, overFuse, stopUnder } from './over-fuse.ts';

/** Slow enough for a status file to take half a minute: whoever asked for it waits, and cannot be killed. */
const BYTES_PER_SECOND = 32;

/** A pod whose containerd has its root, its log and a crictl in $PATH behind FUSE daemons. */
const podOnFuse = () =>
  stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo);
    const fuse = await overFuse(folder, app.containerd.root, BYTES_PER_SECOND);
    const others = await bindfs(folder, 'others', ['-odirect_io,attr_timeout=0,entry_timeout=0']);
    writeFileSync(join(others.backing, 'crictl'), '#!/bin/sh\nexit 0\n');
    chmodSync(join(others.backing, 'crictl'), 0o755);
    writeFileSync(join(others.backing, 'containerd.log'), 'time="2026-01-02T03:04:05Z" level=info msg=hello\n');
    await bindOver(others, 'containerd.log', join(folder.path, 'containerd.log'));
    return { ...app, fuse, others, undo: undo.use(new AsyncDisposableStack()) };
  });

/** Nobody is left but who cannot be killed, as the manifest says; more than one where the daemon had taken more requests. */
function expectLeft({ left }: Run, { manifest }: Bundle, stuck: number): void {
  expect(left).toContainEqual(expect.stringMatching(new RegExp(`^\\S+ ${stuck} D$`)));
  const known = manifest.stuckProbes.filter(({ reaped }) => !reaped).map(({ pid }) => pid);
  for (const process of left) {
    expect(process).toMatch(/ D$/);
    expect(known).toContain(Number(process.split(' ').at(-2)));
  }
}

describe.skipIf(labUnavailable())('a grab whose readers cannot be killed', () => {
  it('ends in time, has all the rest, and keeps no pipe open though a child of it stays', context =>
    during(podOnFuse(), async ({ folder, containerd, pod, container, initPid, fuse, others, undo }) => {
      let stuck = 0;
      const through = await grabThrough(context, folder, pod.id, {
        timeoutS: 25,
        args: ['--samples', '1'],
        env: { PATH: `${process.env['PATH']}:${others.point}` },
        meanwhile: async started => {
          process.kill(others.pid, 'SIGSTOP');
          undo.defer(() => void process.kill(others.pid, 'SIGCONT'));
          stuck = await stopUnder(fuse, started.processes, undo);
        },
      });
      const { bundle, run } = through;
      const status = `containers/${container.id}/status.json`;
      expect(Object.fromEntries(outcomesOf(bundle))).toMatchObject({
        [status]: 'timeout',
        // Of what could not be looked at, not even a list.
        [status.replace(/json$/, 'stat')]: 'timeout',
        'logs/containerd.log': 'timeout',
        'runtime/crictl-version.txt': 'timeout',
      });
      expectShimStacks(bundle);
      expectOnlyMissing(
        through,
        / timeout /,
        // The dump is read beside containerd, which may have been first.
        /^shim\/goroutines\.txt: /,
      );
      expect(bundle.manifest.stuckProbes).toContainEqual(
        expect.objectContaining({ pid: stuck, item: expect.stringContaining(container.id), reaped: false }),
      );
      // The run is over, and nobody waits for its stdout and stderr any more: yet this child is there.
      expectLeft(run, bundle, stuck);

      await end(fuse.pid);
      await until('the child to end with the daemon', 10_000, () => !alive(stuck));
      await undo.disposeAsync();
      await expectUnharmed(containerd, [{ id: container.id, initPid }]);
    }));

  it('ends a pipeline that it stands in, and an ssh session, with its last byte', context =>
    during(podOnFuse(), async ({ folder, containerd, pod, fuse, undo }) => {
      const out = join(folder.path, 'piped.tgz');
      let stuck = 0;
      const run = await runThrough(context, folder, ['grab', pod.id, '--samples', '0', '-o', '-'], {
        timeoutS: 15,
        prefix: ['sh', '-c', '"$@" | cat >"$0"', out],
        meanwhile: async started => {
          stuck = await stopUnder(fuse, started.processes, undo);
        },
      });
      expectLeft(run, await openBundle(out), stuck);
      // Whoever asks beforehand comes back as well, and is told.
      const doctor = await stallcap(folder, ['doctor', '--json']);
      expect(doctor.ms).toBeLessThan(20_000);
      const { checks }: DoctorDocument = JSON.parse(doctor.stdout.toString());
      expect(checks).toContainEqual(
        expect.objectContaining({ name: 'root', outcome: 'lacks', says: `${containerd.root}: timeout` }),
      );
      expect(doctor.exit).toBe(3);
      await undo.disposeAsync();
    }));
});
