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
}

/** One run of dist/stallcap, from start to end. */
export interface Run {
  readonly exit: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly ms: number;
  /** What it has started and left behind, whatever group, session or parent it has by now: 'ctr 4711 D'. */
  readonly left: readonly string[];
}

/** Longer than any grab may take. */
const LIMIT_MS = 90_000;

let runs = 0;

/** Runs the built executable in a cgroup of its own, which shows what it leaves behind. The cgroup goes with the folder. */
export async function stallcap(folder: LabFolder, args: readonly string[], options: RunOptions = {}): Promise<Run> {
  runs += 1;
  const cgroup = join(hierarchy(), folder.name, `grab-${runs}`);
  const cwd = options.cwd ?? join(folder.path, `cwd-${runs}`);
  mkdirSync(cgroup, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  const enter = ['-c', 'echo $$ >"$0" && exec "$@"', join(cgroup, 'cgroup.procs')];
  const started = performance.now();
  const child = spawn('sh', [...enter, ...(options.prefix ?? []), STALLCAP, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/root', ...options.env },
  });
  folder.process(child.pid ?? -1, 'stallcap');
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const [stdout, stderr, [exit]] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  clearTimeout(limit);
  const ms = performance.now() - started;
  return { exit, stdout, stderr: stderr.toString(), ms, left: await leftIn(cgroup) };
}

/** A child that was killed needs a moment to be gone. */
async function leftIn(cgroup: string): Promise<readonly string[]> {
  const look = () =>
    readFileSync(join(cgroup, 'cgroup.procs'), 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(Number);
  await until('the run to leave nothing', 1000, () => look().length === 0).catch(() => undefined);
  return look().map(pid => `${status(pid)?.comm} ${pid} ${status(pid)?.state}`);
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
