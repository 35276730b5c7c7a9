import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { askForDump, expectWhole, steps } from '../../collectors/dump-expectations.ts';
import { startContainerd } from '../containerd.ts';
import { openFolder } from '../folder.ts';
import { status } from '../proc.ts';
import { labUnavailable } from '../requirements.ts';

const PROGRAMS = '/usr/bin';

/**
 * kata's Go shim is containerd's own shim.Run with another task service, so its log is the same fifo (kata-containers
 * src/runtime/cmd/containerd-shim-kata-v2). Here runc's shim has its name: a virtual machine is what no dump needs.
 */
it.skipIf(labUnavailable())('a dump of a shim that is called as kata’s comes through the same fifo', async () => {
  await using folder = await openFolder();
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  for (const name of ['containerd', 'ctr', 'containerd-shim-runc-v2'])
    symlinkSync(join(PROGRAMS, name), join(bin, name));
  copyFileSync(join(PROGRAMS, 'containerd-shim-runc-v2'), join(bin, 'containerd-shim-kata-v2'));
  await using containerd = await startContainerd({ folder, bin });
  const container = await containerd.runContainer({ id: 'kata', shim: 'kata' });
  expect(status(container.shimPid)?.comm).toBe('containerd-shim');
  const collected = await askForDump(container.id);
  expectWhole(collected);
  expect(collected.sandbox.shims).toMatchObject([{ generation: 'v2', exe: join(bin, 'containerd-shim-kata-v2') }]);
  expect(steps(collected)).toContain(`find the shim log: descriptor 2: ${container.bundle}/log`);
});
