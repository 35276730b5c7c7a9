import process from 'node:process';
import type { Usage } from '../host/port.ts';
import type { Collector } from './collector.ts';
import { deadlineOf } from './evidence-of.ts';
import { containerdsOf } from './runtime-places.ts';

/** Between the two readings: long enough for 2 % of a CPU to show (the kernel counts in ticks of 10 ms). */
const PAUSE_MS = 500;

/**
 * node/observer.txt: what the shims use (one that spins is no shim that waits), and what stallcap itself does to the node.
 * While the samples are taken, since time passes then anyway.
 */
export const observer: Collector = {
  name: 'observer',
  phase: 'samples',
  deadlineMs: 5000,
  async *collect(capture) {
    const named = new Map<number, string>([
      ...capture.shims.map(({ pid, id }) => [pid, `shim ${id}`] as const),
      ...containerdsOf(capture).map(({ pid }) => [pid, 'containerd'] as const),
      [process.pid, 'stallcap'],
    ]);
    const deadline = { ...deadlineOf(capture), itemMs: 4000 };
    const read = await capture.host.usage([...named.keys()], PAUSE_MS, deadline);
    const { cpuMs, childCpuMs, children, peakRssBytes } = capture.host.cost();
    const lines = [
      `# over ${PAUSE_MS} ms: pid, CPU %, memory (RSS) MiB, CPU since start ms, age s, what`,
      ...read.usages.map(usage => rowOf(usage, named.get(usage.pid) ?? '?')),
      `# stallcap so far: CPU ${Math.round(cpuMs)} ms, of its ${children} children ${Math.round(childCpuMs)} ms, peak RSS of the largest ${mebibytes(peakRssBytes)} MiB`,
    ];
    yield {
      path: 'node/observer.txt',
      source: `pidusage of ${[...named.keys()].join(', ')}`,
      outcome: read.outcome,
      body: Buffer.from(`${lines.join('\n')}\n`),
      at: { offsetMs: read.offsetMs, durationMs: read.durationMs },
      ...(read.detail === undefined ? {} : { detail: read.detail }),
    };
  },
};

function rowOf({ pid, cpuPercent, rssBytes, cpuMs, ageMs }: Usage, who: string): string {
  return [pid, cpuPercent.toFixed(1), mebibytes(rssBytes), Math.round(cpuMs), Math.round(ageMs / 1000), who].join('\t');
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
