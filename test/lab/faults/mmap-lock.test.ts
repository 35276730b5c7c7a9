import { describe, expect, it } from 'vitest';
import { during } from '../during.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { mmapLockHeld } from '../stalls/mmap-lock-held.ts';
import { stalled } from '../stalls/stall.ts';
import { expectOnlyMissing, expectShimStacks, grabThrough } from './grab-through.ts';

/** A pod on a node where `ps` and `pgrep -f` hang. */
const nodeWherePsHangs = (copies: number) =>
  stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo);
    const { pids } = undo.use(await mmapLockHeld({ copies }));
    return { ...app, pids };
  });

describe.skipIf(labUnavailable())('a grab on a node where ps hangs', () => {
  it('has the shim, the process by its name, and where its own reader hung', context =>
    during(nodeWherePsHangs(1), async ({ folder, pod, pids: [pid = 0] }) => {
      const through = await grabThrough(context, folder, pod.id, { timeoutS: 25, args: ['--samples', '1'] });
      const { bundle, run } = through;
      expectOnlyMissing(through, /^node\/(processes|blocked)\.txt: truncated .*cmdline/, /^ps -eL?o .*timeout/);
      expectShimStacks(bundle);
      expect(bundle.text('node/processes.txt')).toMatch(new RegExp(`^ *${pid} .*\\[mmap-hostage\\]$`, 'm'));
      expect(bundle.manifest.stuckProbes).toContainEqual(
        expect.objectContaining({
          request: 'sweep',
          item: `/proc/${pid}`,
          state: 'D',
          wchan: expect.stringMatching(/^\w+$/),
          syscall: expect.stringMatching(/^\d+ 0x/),
          stack: expect.stringContaining('proc_pid_cmdline_read'),
        }),
      );
      expect(run.left).toEqual([]);
    }));

  it('leaves four probes at fifty such processes, and says of the others that they were not asked', context =>
    during(nodeWherePsHangs(50), async ({ folder, pod, pids }) => {
      const through = await grabThrough(context, folder, pod.id, { timeoutS: 25, args: ['--samples', '1'] });
      const { bundle, run } = through;
      expectOnlyMissing(
        through,
        /^node\/(processes|blocked)\.txt: truncated .*cmdline/,
        /^ps -eL?o .*: timeout not run: 4 command lines hang/,
      );
      expectShimStacks(bundle);
      const table = bundle.text('node/processes.txt');
      for (const pid of pids) expect(table).toMatch(new RegExp(`^ *${pid} .*\\[mmap-hostage\\]$`, 'm'));
      expect(bundle.manifest.stuckProbes).toHaveLength(4);
      const sweep = bundle.manifest.items.find(({ path }) => path === 'node/processes.txt');
      const [, spared] =
        /(\d+) command lines not read: 4 probes already hang in this kind of read/.exec(sweep?.detail ?? '') ?? [];
      // The other 46, and fifty readers of their memory, which wait in D as well.
      expect(Number(spared)).toBeGreaterThanOrEqual(96);
      expect(run.left).toEqual([]);
    }));
});
