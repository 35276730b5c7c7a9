import { accessSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUSYBOX } from '../lab/busybox-image.ts';
import { type Containerd, startContainerd } from '../lab/containerd.ts';
import { containerdOf, VERSIONS } from '../lab/dumps/versions.ts';
import { during } from '../lab/during.ts';
import { signal } from '../lab/processes.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { askForDump, expectWhole, expectWon, steps } from './dump-expectations.ts';

/** containerd 1.7 is the last that has it. */
function noV1Shim(): boolean {
  try {
    accessSync('/usr/bin/containerd-shim');
    return false;
  } catch {
    return true;
  }
}

const [SIX, SEVEN] = VERSIONS;

const ID = 'old-runtime';

async function runContainer(containerd: Containerd): Promise<void> {
  const runtime = ['--runtime', 'io.containerd.runtime.v1.linux'];
  await containerd.ctr(['run', '--detach', '--null-io', ...runtime, BUSYBOX, ID, 'sleep', '2147483647']);
}

describe.skipIf(labUnavailable() || noV1Shim())('the goroutine dump of a v1 shim', () => {
  it('is taken from its fifo before containerd throws it away', () =>
    during(startContainerd(), async containerd => {
      await runContainer(containerd);
      const collected = await askForDump(ID);
      expectWon(collected, 'log sink keeps nothing');
      expect(steps(collected)).toMatch(/find the shim log: descriptor \d+: .*\/old-runtime\/shim\.stdout\.log/);
      expect(steps(collected)).toContain('containerd throws the log of a v1 shim without -debug away');
    }));

  it.for([SIX, SEVEN])('is drained when containerd $version is stopped, or dead', async (version, { skip }) => {
    const binaries = await containerdOf(version);
    if ('reason' in binaries) return skip(binaries.reason);
    await during(startContainerd(binaries), async containerd => {
      await runContainer(containerd);
      signal(containerd.pid, 'SIGSTOP');
      try {
        expectWhole(await askForDump(ID));
      } finally {
        signal(containerd.pid, 'SIGCONT');
      }
      await containerd.kill();
      // The shim holds both ends of its fifo: without a reader the dump stays in it.
      const dead = await askForDump(ID, { signalAgain: true });
      expectWhole(dead);
      expect(steps(dead)).toMatch(/no containerd serves .*; so the fifo is opened before the signal/);
    });
  });

  it('with shim_debug comes through the standard output of containerd', () =>
    during(
      startContainerd({ config: '[plugins."io.containerd.runtime.v1.linux"]\n  shim_debug = true\n' }),
      async containerd => {
        await runContainer(containerd);
        const collected = await askForDump(ID);
        expectWhole(collected);
        expect(steps(collected)).toMatch(
          /look into the log: descriptor 1 of containerd \d+ is .*: a dump in it, complete/,
        );
      },
    ));
});
