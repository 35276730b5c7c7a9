import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { STALLCAP } from '../../build/dist.ts';
import type { LabFolder } from '../folder.ts';
import { mounts, status } from '../proc.ts';
import { until } from '../wait.ts';

export interface RunOptions {
  /** Default: an empty folder of the lab. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What it is started under: ['strace', …]. */
  readonly prefix?: readonly string[];
  /** A descriptor as its stdout. Default: a pipe that is read. */
  readonly stdout?: number;
}

/** One run of dist/stallcap, from start to end. */
export interface Run {
  readonly exit: number | null;
  /** What ended it, when it did not exit. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Until it had ended and nobody had its stdout and stderr open any more. */
  readonly ms: number;
  /** What it has started and left behind, whatever group, session or parent it has by now: 'ctr 4711 D'. */
  readonly left: readonly string[];
}

/** A run under way. */
export interface Started {
  /** Its own process, or what it runs under. */
  readonly pid: number;
  /** What it has said on stderr so far. */
  said(): string;
  /** Every process of the run, it included. */
  processes(): readonly number[];
  readonly ended: Promise<Run>;
}

/** Longer than any grab may take. */
const LIMIT_MS = 90_000;

let runs = 0;

/** Runs the built executable to its end. */
export async function stallcap(folder: LabFolder, args: readonly string[], options: RunOptions = {}): Promise<Run> {
  return startStallcap(folder, args, options).ended;
}

/** Starts the built executable in a cgroup of its own, which shows what it leaves behind. The cgroup goes with the folder. */
export function startStallcap(folder: LabFolder, args: readonly string[], options: RunOptions = {}): Started {
  runs += 1;
  const cgroup = join(hierarchy(), folder.name, `grab-${runs}`);
  const cwd = options.cwd ?? join(folder.path, `cwd-${runs}`);
  mkdirSync(cgroup, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  const enter = ['-c', 'echo $$ >"$0" && exec "$@"', join(cgroup, 'cgroup.procs')];
  const began = performance.now();
  const child = spawn('sh', [...enter, ...(options.prefix ?? []), STALLCAP, ...args], {
    cwd,
    stdio: ['ignore', options.stdout ?? 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/root', ...options.env },
  });
  folder.process(child.pid ?? -1, 'stallcap');
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const stdout = child.stdout === null ? Promise.resolve(Buffer.alloc(0)) : buffer(child.stdout);
  const { stderr } = child;
  if (stderr === null) throw new RangeError('no pipe for stderr');
  let said = '';
  stderr.setEncoding('utf8').on('data', chunk => {
    said += chunk;
  });
  const ended = Promise.all([exited, stdout, once(stderr, 'close')]).then(async ([[exit, signal], out]) => {
    clearTimeout(limit);
    const ms = performance.now() - began;
    return { exit, signal, stdout: out, stderr: said, ms, left: await leftIn(cgroup) };
  });
  return { pid: child.pid ?? -1, said: () => said, processes: () => processesIn(cgroup), ended };
}

function processesIn(cgroup: string): readonly number[] {
  return readFileSync(join(cgroup, 'cgroup.procs'), 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(Number);
}

/** A child that was killed needs a moment to be gone. */
async function leftIn(cgroup: string): Promise<readonly string[]> {
  await until('the run to leave nothing', 1000, () => processesIn(cgroup).length === 0).catch(() => undefined);
  return processesIn(cgroup).map(pid => `${status(pid)?.comm} ${pid} ${status(pid)?.state}`);
}

/** Mount point of cgroup v2, or where there is none of a v1 hierarchy that takes a process without being set up. */
function hierarchy(): string {
  const all = mounts();
  const found =
    all.find(({ fstype }) => fstype === 'cgroup2') ??
    all.find(({ fstype, point }) => fstype === 'cgroup' && /\/(pids|systemd)$/.test(point));
  if (found === undefined) throw new Error('no cgroup hierarchy is mounted');
  return found.point;
}
