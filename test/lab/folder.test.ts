import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { startContainerd } from './containerd.ts';
import type { LabFolder } from './folder.ts';
import { leftovers } from './leftovers.ts';
import { labUnavailable } from './requirements.ts';
import { stalled } from './stalls/stall.ts';
import { until } from './wait.ts';

describe.skipIf(labUnavailable())('a folder of the lab', () => {
  it('is cleared when its owner is killed, frozen disk and all', async () => {
    const { stdout } = await execa(process.execPath, [join(import.meta.dirname, 'programs', 'crash.ts')], {
      reject: false,
    });
    const folder = JSON.parse(stdout) as Pick<LabFolder, 'path' | 'name' | 'ledger'>;
    await until('the guardian to have cleared the folder', 30_000, () => !existsSync(folder.path));
    expect(leftovers(folder)).toEqual([]);
  });

  it('is cleared when what was to happen in it fails half way', async () => {
    let folder: LabFolder | undefined;
    const failing = stalled(async (opened, undo) => {
      folder = opened;
      const containerd = undo.use(await startContainerd({ folder: opened }));
      await containerd.runPod({ name: 'web-0' });
      throw new Error('half way');
    });
    await expect(failing).rejects.toThrow('half way');
    expect(folder === undefined ? ['no folder'] : leftovers(folder)).toEqual([]);
  });
});
