/** Inside of the node that ../incidents.ts makes: the stalls, the grabs, the reports. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readReport } from '../../src/report/read-report.ts';
import { stallcap } from '../../test/lab/grab/stallcap.ts';
import type { Stall } from '../../test/lab/stalls/stall.ts';
import { ROOT } from '../build/paths.ts';
import { INCIDENTS, type Incident } from './incidents.ts';
import { renderings } from './renderings.ts';

const asked = process.argv.slice(2);

for (const incident of INCIDENTS) {
  if (asked.length === 0 || asked.includes(incident.name)) await make(incident);
}
process.exit(0);

async function make({ name, make: makeStall, begin, settleMs }: Incident): Promise<void> {
  await using stall: Stall = await makeStall();
  const target = await begin(stall);
  await sleep(settleMs);
  const at = (file: string) => join(stall.folder.path, file);
  mkdirSync(at('grabbed'));
  // The kernel's log is the machine's; ps says what node/processes.txt says.
  const grab = await stallcap(stall.folder, [
    'grab',
    target,
    '--skip',
    'kernel-log,ps',
    '--since',
    '2m',
    '-o',
    `${at('grabbed')}/`,
  ]);
  const [file] = readdirSync(at('grabbed'));
  if (file === undefined) throw new Error(grab.stderr);
  const place = join(ROOT, 'examples/incidents', name);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const bundle = join(place, 'bundle.tar.gz');
  // Where stallcap lies on this machine, and who has built its kernel.
  const patterns = [
    ROOT.replace(/\/$/, '').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    '(?<=\\()[\\w.-]+@[\\w.-]+(?=\\))',
  ];
  const redacted = await stallcap(stall.folder, [
    'redact',
    at(join('grabbed', file)),
    '-o',
    bundle,
    ...patterns.flatMap(pattern => ['--pattern', pattern]),
  ]);
  if (redacted.exit !== 0) throw new Error(redacted.stderr);
  const judged = await readReport(async function* read() {
    yield readFileSync(bundle);
  });
  for (const [ending, text] of await renderings(judged)) writeFileSync(join(place, `report.${ending}`), text);
  console.log(`${name}: ${judged.report.headline}`);
}
