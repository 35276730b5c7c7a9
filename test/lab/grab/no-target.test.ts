import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ListDocument } from '../../../src/sandbox/list-answer.ts';
import { startContainerd } from '../containerd.ts';
import { during } from '../during.ts';
import type { LabFolder } from '../folder.ts';
import { labUnavailable } from '../requirements.ts';
import { umountDelayed } from '../stalls/umount-delayed.ts';
import { gapsOf, grab } from './grab.ts';
import { stallcap } from './stallcap.ts';

/** Without a TARGET the whole node counts: others on this machine must not have a stall at the same time. */
async function stuckElsewhere(folder: LabFolder, own: readonly number[]): Promise<string[]> {
  const { stdout } = await stallcap(folder, ['list', '--json']);
  const { sandboxes } = JSON.parse(stdout.toString()) as ListDocument;
  return sandboxes
    .filter(({ blocked, shims }) => blocked.length > 0 && !shims.some(({ pid }) => own.includes(pid)))
    .map(({ name }) => name);
}

describe.skipIf(labUnavailable())('a grab without a TARGET', () => {
  it('on a healthy node shows what there is, and captures nothing', ({ skip }) =>
    during(startContainerd(), async containerd => {
      const { folder } = containerd;
      const name = `cart-${process.pid}`;
      const pod = await containerd.runPod({ name, namespace: 'shop' });
      const others = await stuckElsewhere(folder, [pod.shimPid]);
      skip(others.length > 0, `other sandboxes of this machine are stuck: ${others.join(' ')}`);
      const { exit, stdout, stderr, left } = await stallcap(folder, ['grab']);
      expect({ exit, stdout: stdout.toString(), left }).toEqual({ exit: 2, stdout: '', left: [] });
      expect(stderr).toMatch(
        /^Error: (?:The one sandbox of this node does not look|None of the \d+ sandboxes of this node looks) stuck,/m,
      );
      expect(stderr).toMatch(new RegExp(`^shop/${name} +${pod.id.slice(0, 12)} +${pod.shimPid} `, 'm'));
      expect(stderr).toContain('stallcap grab --node');
      expect(containerd.log()).not.toContain('goroutine stack dump');
    }));

  it('takes the one sandbox that is stuck', ({ skip }) =>
    during(umountDelayed(), async ({ folder, containerd, pod, thread }) => {
      const healthy = await containerd.runPod({ name: 'healthy', namespace: 'shop' });
      const others = await stuckElsewhere(folder, [pod.shimPid]);
      skip(others.length > 0, `other sandboxes of this machine are stuck: ${others.join(' ')}`);
      // Less than a second is work.
      await sleep(1500);
      const { bundle } = await grab(folder, ['--samples', '1'], { exit: 0 });
      expect(gapsOf(bundle)).toEqual([]);
      expect(bundle.manifest.target).toMatchObject({
        asked: null,
        how: expect.stringMatching(/^the only one that looks stuck: umount2/),
        sandbox: { id: pod.id },
      });
      expect(bundle.threads('shim/threads-1.txt')).toContainEqual(
        expect.objectContaining({ tid: thread.tid, state: 't' }),
      );
      expect(bundle.manifest.signals.map(({ pid }) => pid)).not.toContain(healthy.shimPid);
    }));
});
