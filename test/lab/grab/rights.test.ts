import { describe, expect, it } from 'vitest';
import { STALLCAP } from '../../build/dist.ts';
import { startContainerd } from '../containerd.ts';
import { during } from '../during.ts';
import { labUnavailable } from '../requirements.ts';
import { stallcap } from './stallcap.ts';

/** nobody's ids everywhere, and no capability. The executable is handed over open: its folder may not be nobody's to enter. */
const AS_NOBODY = [
  'sh',
  '-c',
  `shift; exec 9<"${STALLCAP}"; exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all /proc/self/fd/9 "$@"`,
  'sh',
];

describe.skipIf(labUnavailable())('somebody without rights', () => {
  it.each([
    ['who names a pod', (name: string) => [`shop/${name}`]],
    ['who names nobody', () => []],
    ['who names a process', () => [`pid:${process.pid}`]],
  ])('%s is told which right is missing', (_, asked) =>
    during(startContainerd(), async containerd => {
      const name = `cart-${process.pid}`;
      const pod = await containerd.runPod({ name, namespace: 'shop' });
      const run = await stallcap(containerd.folder, ['grab', ...asked(name)], { prefix: AS_NOBODY });
      expect(run).toMatchObject({ exit: 5, left: [] });
      expect(run.stdout.toString()).toBe('');
      expect(run.stderr).toMatch(
        /^Error: Not permitted to see the sandboxes of this node: that needs root, to read \/proc\//,
      );
      expect(run.stderr).toContain('sudo stallcap');
      expect(run.stderr).not.toContain(pod.id);
      expect(containerd.log()).not.toContain('goroutine stack dump');
    }),
  );
});
