import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { bindfs } from '../test/lab/bindfs.ts';
import { openFolder } from '../test/lab/folder.ts';
import { run } from '../test/lab/run.ts';
import type { Contenders } from './measure-size.ts';
import { measuredRun } from './measured-run.ts';
import { median } from './statistics.ts';

/** ms to the first stack of the shim. */
export interface ColdStart {
  readonly readRate: string;
  readonly warmMs: number;
  readonly coldMs: number;
  readonly loopMs: number;
}

const READ_RATE = '50M';
const ROUNDS = 3;

/** The binary on a slow disk with nothing of it in memory, as on a node where nobody has used it yet. */
export async function coldStart({ stallcap, sandbox, here, out }: Contenders): Promise<ColdStart> {
  await using folder = await openFolder();
  const warmMs: number[] = [];
  const coldMs: number[] = [];
  const loopMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const slow = await bindfs(folder, `slow-${round}`, [`--read-rate=${READ_RATE}`]);
    copyFileSync(stallcap, join(slow.backing, 'stallcap'));
    coldMs.push(await firstStack(join(slow.point, 'stallcap'), sandbox, out));
    warmMs.push(await firstStack(stallcap, sandbox, out));
    const loop = await measuredRun(['bash', join(here, 'runbook.sh'), sandbox, out], { memory: false });
    loopMs.push(Number(/first-stack (\d+)/.exec(loop.stderr)?.[1]) / 1e6 - loop.startedAt);
    await run('rm', ['-f', join(slow.backing, 'stallcap')]);
  }
  return { readRate: READ_RATE, warmMs: median(warmMs), coldMs: median(coldMs), loopMs: median(loopMs) };
}

async function firstStack(binary: string, sandbox: string, out: string): Promise<number> {
  const argv = [
    binary,
    'grab',
    sandbox,
    '--json',
    '--quiet',
    '--no-signal',
    '--samples',
    '0',
    '-o',
    join(out, 'cold.tar.gz'),
  ];
  const { stdout, startedAt } = await measuredRun(argv, { memory: false });
  const result = JSON.parse(stdout) as { startedAt: string; firstStackMs: number };
  await run('rm', ['-f', join(out, 'cold.tar.gz')]);
  return Date.parse(result.startedAt) - startedAt + result.firstStackMs;
}
