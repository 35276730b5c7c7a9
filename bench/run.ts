/**
 * `npm run bench`: stallcap beside what it replaces, in one run, as one table. Needs the lab (root, Debian's packages).
 * Options: --sizes 500,5000,20000 · --rounds 5
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installDebianPackages } from '../scripts/debian-packages.ts';
import { startContainerd } from '../test/lab/containerd.ts';
import { labUnavailable } from '../test/lab/requirements.ts';
import { manyThreads } from '../test/lab/stalls/many-threads.ts';
import { coldStart } from './cold-start.ts';
import { type Contenders, measureSize } from './measure-size.ts';
import { coldTable, sizeTable } from './table.ts';

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '500,5000,20000' }, rounds: { type: 'string', default: '5' } },
});

await installDebianPackages();
const reason = labUnavailable();
if (reason !== null) {
  process.stderr.write(`bench: ${reason}\n`);
  process.exit(1);
}

const here = import.meta.dirname;
const out = mkdtempSync(join(tmpdir(), 'stallcap-bench-'));
try {
  const floor = join(out, 'sweep-floor');
  execFileSync('cc', ['-O2', join(here, 'sweep-floor.c'), '-o', floor]);
  const stallcap = join(here, '../dist/stallcap');
  await using containerd = await startContainerd();
  const name = `web-${process.pid}`;
  const pod = await containerd.runPod({ name, namespace: 'shop' });
  await pod.addContainer({ name: 'app', command: ['sleep', '100000'] });
  const contenders: Contenders = { here, out, floor, stallcap, sandbox: pod.id, pod: `shop/${name}` };

  for (const size of values.sizes.split(',').map(Number)) {
    const others = readFileSync('/proc/loadavg', 'utf8').match(/\/(\d+)/)?.[1] ?? '0';
    const processes = Math.max(1, Math.ceil((size - Number(others)) / 100));
    await using _threads = await manyThreads({ processes, threadsEach: 100 });
    const measured = await measureSize(contenders, Number(values.rounds));
    process.stdout.write(sizeTable(measured));
  }
  process.stdout.write(coldTable(await coldStart(contenders)));
} finally {
  rmSync(out, { recursive: true, force: true });
}
