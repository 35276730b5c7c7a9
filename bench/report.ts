/**
 * `npm run bench:report`: how long a report of a large bundle takes and how much memory, in every format, whole and cut.
 * Options: --mib 200 (what is in the bundle), --random (lines that hardly compress, so that the file is about as large)
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { largeBundle } from './report/large-bundle.ts';

const { values } = parseArgs({
  options: { mib: { type: 'string', default: '200' }, random: { type: 'boolean', default: false } },
});

/** For the bundle of 200 MiB. */
const LIMITS = { seconds: 10, megabytes: 300 };

const FORMATS = {
  text: [],
  md: ['--format', 'md'],
  html: ['--format', 'html'],
  json: ['--format', 'json'],
  issue: ['--for', 'containerd'],
} as const;

const stallcap = join(import.meta.dirname, '../dist/stallcap');
const folder = mkdtempSync(join(tmpdir(), 'stallcap-bench-report-'));
try {
  const whole = join(folder, 'whole.tar.gz');
  const file = createWriteStream(whole);
  for await (const bytes of largeBundle(Number(values.mib), values.random))
    if (!file.write(bytes)) await once(file, 'drain');
  await new Promise<void>(resolve => file.end(resolve));
  const { size } = statSync(whole);
  const cut = join(folder, 'cut.tar.gz');
  execFileSync('cp', [whole, cut]);
  truncateSync(cut, Math.floor(size * 0.9));
  const packed = (size / 2 ** 20).toFixed(0);
  console.log(
    `\na bundle of ${packed} MiB with ${values.mib} MiB in it${values.random ? ', lines that hardly compress' : ''}\n`,
  );
  console.log('| report | whole | CPU | memory | cut at 90 % | CPU | memory |\n|---|--:|--:|--:|--:|--:|--:|');
  let missed = false;
  for (const [name, args] of Object.entries(FORMATS)) {
    const runs = [whole, cut].map(path => measure([...args], path));
    missed ||= runs.some(({ seconds, megabytes }) => seconds > LIMITS.seconds || megabytes > LIMITS.megabytes);
    const cells = runs.map(
      ({ seconds, cpu, megabytes }) => `${seconds.toFixed(1)} s | ${cpu.toFixed(1)} s | ${megabytes.toFixed(0)} MB`,
    );
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
  console.log(`\nTargets: below ${LIMITS.seconds} s and ${LIMITS.megabytes} MB: ${missed ? 'missed' : 'met'}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Time to the end, and the most that was resident: VmHWM, as GNU time's `%M` does not know of what it execs from. */
function measure(args: readonly string[], bundle: string) {
  const python =
    'import os,sys,time,subprocess\n' +
    't=time.monotonic();p=subprocess.Popen(sys.argv[1:],stdout=subprocess.DEVNULL);_,s,r=os.wait4(p.pid,0)\n' +
    'print(time.monotonic()-t,r.ru_utime+r.ru_stime,r.ru_maxrss,os.waitstatus_to_exitcode(s))';
  const [seconds = 0, cpu = 0, kilobytes = 0, exit = -1] = execFileSync('python3', [
    '-c',
    python,
    stallcap,
    'report',
    bundle,
    ...args,
  ])
    .toString()
    .trim()
    .split(' ')
    .map(Number);
  if (exit !== 0 && exit !== 3) throw new Error(`report ended with ${exit}`);
  return { seconds, cpu, megabytes: (kilobytes * 1024) / 1e6 };
}
