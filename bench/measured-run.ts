import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** One run of one command, with everything that it started. */
export interface MeasuredRun {
  /** Epoch, ms: just before exec. */
  readonly startedAt: number;
  readonly wallMs: number;
  /** User and system time of all processes, abandoned ones included, from the cgroup. */
  readonly cpuMs: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  /** Only where it was asked for, since it costs: PSS of all processes together, and the largest resident one; bytes. */
  readonly peakPss: number;
  readonly largestRss: number;
}

/** cgroup v1: /sys/fs/cgroup/cpuacct; v2: /sys/fs/cgroup. */
const V1 = '/sys/fs/cgroup/cpuacct';

/**
 * Runs a command in a cgroup of its own: rusage would miss a child that outlives it, and knows no sum of memory.
 * The shell that moves itself into the cgroup says when it execs, so its own start-up counts for nobody.
 */
export async function measuredRun(
  argv: readonly string[],
  options: { readonly memory: boolean },
): Promise<MeasuredRun> {
  const group = join(cpuacctRoot(), `stallcap-bench-${process.pid}`);
  mkdirSync(group, { recursive: true });
  const cpuBefore = cpuMs(group);
  const script = 'echo $$ > "$0/cgroup.procs"; date +%s%N >&3; exec "$@"';
  const child = spawn('sh', ['-c', script, group, ...argv], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const [stdout, stderr, started] = [1, 2, 3].map(fd => text(child.stdio[fd] as NodeJS.ReadableStream)) as [
    Promise<string>,
    Promise<string>,
    Promise<string>,
  ];
  const peak = options.memory ? watchMemory(group) : { stop: () => ({ peakPss: 0, largestRss: 0 }) };
  const exitCode = await new Promise<number | null>(resolve => child.once('exit', resolve));
  const endedAt = performance.timeOrigin + performance.now();
  const startedAt = Number(await started) / 1e6;
  const run = { startedAt, wallMs: endedAt - startedAt, exitCode, ...peak.stop() };
  const outputs = { stdout: await stdout, stderr: await stderr };
  const cpu = cpuMs(group) - cpuBefore;
  await removeGroup(group);
  return { ...run, ...outputs, cpuMs: cpu };
}

function cpuacctRoot(): string {
  return readable(join(V1, 'cpuacct.usage')) === null ? '/sys/fs/cgroup' : V1;
}

function cpuMs(group: string): number {
  const v1 = readable(join(group, 'cpuacct.usage'));
  if (v1 !== null) return Number(v1) / 1e6;
  return Number(/^usage_usec (\d+)/m.exec(readable(join(group, 'cpu.stat')) ?? '')?.[1] ?? 0) / 1000;
}

function watchMemory(group: string): { stop(): Pick<MeasuredRun, 'peakPss' | 'largestRss'> } {
  let peakPss = 0;
  const rss = new Map<string, number>();
  const timer = setInterval(() => {
    let pss = 0;
    for (const pid of (readable(join(group, 'cgroup.procs')) ?? '').split('\n').filter(Boolean)) {
      pss += kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss');
      const exe = readable(`/proc/${pid}/comm`) ?? '';
      if (exe.trim() !== 'sh') rss.set(pid, Math.max(rss.get(pid) ?? 0, kilobytes(`/proc/${pid}/status`, 'VmHWM')));
    }
    peakPss = Math.max(peakPss, pss);
  }, 15);
  return {
    stop() {
      clearInterval(timer);
      return { peakPss: peakPss * 1024, largestRss: Math.max(0, ...rss.values()) * 1024 };
    },
  };
}

function kilobytes(path: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readable(path) ?? '')?.[1] ?? 0);
}

function readable(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** The kernel lets go of a cgroup a moment after its last process. */
async function removeGroup(group: string): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    try {
      rmdirSync(group);
      return;
    } catch {
      await sleep(20);
    }
  }
  throw new Error(`${group}: processes of the measured command are still there`);
}
