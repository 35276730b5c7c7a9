import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { during } from '../during.ts';
import { type Bundle, openBundle } from '../grab/bundle.ts';
import { expectUnharmed } from '../grab/grab.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { stalled } from '../stalls/stall.ts';
import { expectShimStacks, runThrough } from './grab-through.ts';

const dumpsIn = (log: string): number => log.split('=== BEGIN goroutine stack dump ===').length - 1;

describe.skipIf(labUnavailable())('two grabs of one sandbox', () => {
  it('at once are both right, and only one of them signals, until ten seconds are over or it is told to', context =>
    during(stalled(runAppPod), async ({ folder, containerd, pod, container, initPid }) => {
      let places = 0;
      const grab = async (...more: string[]): Promise<Bundle> => {
        places += 1;
        const out = join(folder.path, `twice-${places}`);
        mkdirSync(out);
        const args = ['grab', pod.id, '--samples', '1', '-o', `${out}/`, ...more];
        const run = await runThrough(context, folder, args, { timeoutS: 25 });
        return openBundle(run.stdout.toString().trimEnd());
      };
      const pair = await Promise.all([grab(), grab()]);
      for (const bundle of pair) expectShimStacks(bundle);
      const outcomes = pair.map(({ manifest }) => manifest.signals[0]?.outcome ?? '').sort();
      expect(outcomes).toEqual([
        expect.stringMatching(
          /^not sent \((about to be signalled|signalled) by stallcap \d+, \d+\.\d s ago; --signal-again sends it all the same\)$/,
        ),
        'sent',
      ]);
      const [spared, sent] = pair.toSorted((a, b) =>
        (a.manifest.signals[0]?.outcome ?? '').localeCompare(b.manifest.signals[0]?.outcome ?? ''),
      );
      expect(sent?.manifest.signals[0]?.dump).toBe('complete');
      expect(spared?.manifest.notGot).toContainEqual(expect.objectContaining({ path: 'shim/goroutines.txt' }));
      expect(dumpsIn(containerd.log())).toBe(1);
      expect(statSync('/run/stallcap').mode & 0o777).toBe(0o700);

      expect((await grab('--signal-again')).manifest.signals[0]).toMatchObject({ outcome: 'sent', dump: 'complete' });
      await sleep(10_500);
      expect((await grab()).manifest.signals[0]).toMatchObject({ outcome: 'sent', dump: 'complete' });
      expect(dumpsIn(containerd.log())).toBe(3);
      await expectUnharmed(containerd, [pod, { id: container.id, initPid }]);
    }));
});
