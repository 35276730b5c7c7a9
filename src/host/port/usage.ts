import type { Outcome } from './outcome.ts';

/** One process over a moment: what it used. */
export interface Usage {
  readonly pid: number;
  /** Of one CPU, over the pause between the two readings. */
  readonly cpuPercent: number;
  readonly rssBytes: number;
  /** User and system, since its start. */
  readonly cpuMs: number;
  readonly ageMs: number;
}

export interface UsageResult {
  readonly outcome: Outcome;
  readonly detail?: string;
  /** Processes that were gone at the second reading are left out. */
  readonly usages: readonly Usage[];
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** What the observer itself cost. */
export interface ObserverCost {
  readonly cpuMs: number;
  readonly peakRssBytes: number;
  readonly childCpuMs: number;
  readonly children: number;
}
