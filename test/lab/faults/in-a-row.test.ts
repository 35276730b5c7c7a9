import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { during } from '../during.ts';
import { openBundle } from '../grab/bundle.ts';
import { expectUnharmed } from '../grab/grab.ts';
import { stallcap } from '../grab/stallcap.ts';
import { mounts, threads } from '../proc.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { stalled } from '../stalls/stall.ts';
import { note } from './figures.ts';

/** STALLCAP_GRABS_IN_A_ROW=200 runs as many as were promised; fewer by default, for the time that a test run may take. */
const GRABS = Number(process.env['STALLCAP_GRABS_IN_A_ROW'] ?? 50);
/** With the signal every so many times: a shim that is asked for its goroutines in all of them is no healthy shim. */
const SIGNAL_EVERY = 10;

describe.skipIf(labUnavailable())('many grabs in a row', () => {
  it(
    'leave no process, descriptor, mount or memory behind, and the shim with the goroutines that it had',
    context =>
      during(stalled(runAppPod), async ({ folder, containerd, pod, container, initPid }) => {
        const ours: string[] = [];
        const out = join(folder.path, 'in-a-row');
        mkdirSync(out);
        const grab = async (...more: string[]) => {
          const args = ['grab', pod.id, '--signal-again', '--samples', '0', '-o', `${out}/`, ...more];
          const run = await stallcap(folder, args);
          expect([0, 3], run.stderr).toContain(run.exit);
          expect(run.left).toEqual([]);
          const bundle = await openBundle(run.stdout.toString().trimEnd());
          rmSync(run.stdout.toString().trimEnd());
          ours.push(bundle.manifest.output.folder);
          return bundle;
        };
        const goroutines = async () =>
          (await grab()).text('shim/goroutines.txt').match(/^goroutine \d+ /gm)?.length ?? 0;
        // The first ones start what stays: threads of the Go runtime, connections of containerd.
        await goroutines();
        const before = { goroutines: await goroutines(), ...held() };

        for (let done = 0; done < GRABS; done += 1) await grab(...(done % SIGNAL_EVERY === 0 ? [] : ['--no-signal']));

        const after = { goroutines: await goroutines(), ...held() };
        expect(after.goroutines).toBe(before.goroutines);
        expect(after.shimDescriptors).toBe(before.shimDescriptors);
        expect(after.mounts).toBe(before.mounts);
        expect(after.own).toEqual([]);
        // Of containerd, which works: a few more threads or descriptors are its own business, one per grab is ours.
        expect(after.containerdDescriptors - before.containerdDescriptors).toBeLessThan(GRABS / 5);
        expect(after.shimMemory - before.shimMemory).toBeLessThan(16 << 20);
        note(context, { inARow: GRABS });
        await expectUnharmed(containerd, [pod, { id: container.id, initPid }]);

        function held() {
          return {
            shimDescriptors: readdirSync(`/proc/${pod.shimPid}/fd`).length,
            containerdDescriptors: readdirSync(`/proc/${containerd.pid}/fd`).length,
            // Others mount, too.
            mounts: mounts().filter(({ point, source }) => `${point} ${source}`.includes(folder.name)).length,
            // Bundles of ours elsewhere, or pieces of them.
            own: ['/run/stallcap', '/dev/shm']
              .flatMap(dir => (existsSync(dir) ? readdirSync(dir) : []))
              .filter(name => ours.some(bundle => name.startsWith(bundle))),
            shimThreads: threads(pod.shimPid).length,
            shimMemory:
              Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pod.shimPid}/status`, 'utf8'))?.[1]) * 1024,
          };
        }
      }),
    60_000 + GRABS * 8000,
  );
});
