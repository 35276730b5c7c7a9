import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type MeasuredRun, measuredRun } from './measured-run.ts';

export interface Contenders {
  readonly here: string;
  /** A folder for what they write. */
  readonly out: string;
  readonly floor: string;
  readonly stallcap: string;
  readonly sandbox: string;
  readonly pod: string;
}

/** One contender's figures, one per round; ms and bytes. */
export interface Series {
  readonly name: string;
  readonly firstStackMs: readonly number[];
  readonly wallMs: readonly number[];
  readonly cpuMs: readonly number[];
  /** From the request to the last row, where it can be told apart. */
  readonly sweepMs: readonly number[];
  readonly peakPss: number;
  readonly largestRss: number;
}

export interface Measured {
  readonly threads: number;
  readonly rounds: number;
  readonly series: readonly Series[];
}

interface Contender {
  readonly name: string;
  argv(folder: string): readonly string[];
  firstStack(run: MeasuredRun): number;
  sweep(run: MeasuredRun, folder: string): number;
}

const none = () => Number.NaN;

/** Each round runs everybody in turn, so that all see the same noise; the first round warms up and is not counted. */
export async function measureSize(contenders: Contenders, rounds: number): Promise<Measured> {
  const all = contendersOf(contenders);
  const runs = new Map(all.map(({ name }) => [name, [] as Sample[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const contender of all) {
      const sample = await sampleOf(contender, contenders, false);
      if (round > 0) runs.get(contender.name)?.push(sample);
    }
  }
  const series: Series[] = [];
  for (const contender of all) {
    const samples = runs.get(contender.name) ?? [];
    // Apart from the timed rounds: reading smaps_rollup every 15 ms is load of its own.
    const { run } = await sampleOf(contender, contenders, true);
    series.push({
      name: contender.name,
      firstStackMs: samples.map(({ firstStackMs }) => firstStackMs),
      wallMs: samples.map(sample => sample.run.wallMs),
      cpuMs: samples.map(sample => sample.run.cpuMs),
      sweepMs: samples.map(({ sweepMs }) => sweepMs),
      ...{ peakPss: run.peakPss, largestRss: run.largestRss },
    });
  }
  const threads = Number(execFileSync(contenders.floor, { encoding: 'utf8' }).split(' ')[0]);
  return { threads, rounds, series };
}

interface Sample {
  readonly run: MeasuredRun;
  readonly firstStackMs: number;
  readonly sweepMs: number;
}

async function sampleOf(contender: Contender, { out }: Contenders, memory: boolean): Promise<Sample> {
  const folder = join(out, 'round');
  mkdirSync(folder);
  try {
    const run = await measuredRun(contender.argv(folder), { memory });
    if (run.exitCode !== 0 && run.exitCode !== 3)
      throw new Error(`${contender.name}: exit ${run.exitCode}\n${run.stderr}`);
    return { run, firstStackMs: contender.firstStack(run), sweepMs: contender.sweep(run, folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function contendersOf({ here, floor, stallcap, sandbox, pod }: Contenders): readonly Contender[] {
  const grab = (name: string, target: string, ...flags: string[]): Contender => ({
    name,
    argv: folder => [
      stallcap,
      'grab',
      target,
      '--json',
      '--quiet',
      '--signal-again',
      '-o',
      `${folder}/bundle.tar.gz`,
      ...flags,
    ],
    firstStack: stackOfGrab,
    sweep: sweepOfGrab,
  });
  // A shim that was signalled moments ago is spared unless that is asked for; the loop signals it in every round as well.
  return [
    grab('stallcap, by id', sandbox, '--interval', '1ms'),
    grab('stallcap, by pod name', pod, '--interval', '1ms'),
    {
      name: "runbook's shell loop",
      argv: folder => ['bash', join(here, 'runbook.sh'), sandbox, folder],
      firstStack: run => Number(/first-stack (\d+)/.exec(run.stderr)?.[1] ?? Number.NaN) / 1e6 - run.startedAt,
      sweep: none,
    },
    {
      name: 'ps -eLo',
      argv: folder => ['sh', join(here, 'ps.sh'), folder],
      firstStack: none,
      sweep: run => run.wallMs,
    },
    { name: 'C, same files', argv: () => [floor], firstStack: none, sweep: run => run.wallMs },
  ];
}

/** `firstStackMs` counts from the start of the process as it knows it; exec and the dynamic linker come before. */
function stackOfGrab(run: MeasuredRun): number {
  const { startedAt, firstStackMs } = JSON.parse(run.stdout) as { startedAt: string; firstStackMs: number };
  return Date.parse(startedAt) - run.startedAt + firstStackMs;
}

function sweepOfGrab(run: MeasuredRun): number {
  const { bundle } = JSON.parse(run.stdout) as { bundle: string };
  const manifest = execFileSync('tar', ['xzOf', bundle, '--wildcards', '*/manifest.json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const { items } = JSON.parse(manifest) as { items: readonly { path: string; durationMs: number }[] };
  return items.find(({ path }) => path === 'node/processes.txt')?.durationMs ?? Number.NaN;
}
