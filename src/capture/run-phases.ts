import { leavesGap, type NotGot } from '../bundle/manifest.ts';
import type { SignalRecord } from '../bundle/signal-record.ts';
import { type Capture, type Collector, type GrabOptions, PHASES, type Phase } from '../collectors/collector.ts';
import type { FirstLook, Host } from '../host/port.ts';
import type { Inventory, Target } from '../sandbox/types.ts';
import { patienceOf } from './patience.ts';
import type { Progress } from './progress.ts';
import { rounds } from './rounds.ts';
import { runCollector, type Timed } from './run-collector.ts';

export interface PhaseRun {
  readonly host: Host;
  readonly firstLook: FirstLook;
  readonly inventory: Inventory;
  readonly target: Target;
  readonly options: GrabOptions;
  readonly collectors: readonly Collector[];
  /** ms since the start of the process at which collecting ends. */
  readonly collectUntilMs: number;
  /** Aborts everything: the user, a dropped SSH session. */
  readonly interruption: AbortSignal;
  readonly progress: Progress;
  /** A promise is awaited before more is asked of who brought much: it resolves when that is in the bundle, or never will be. */
  take(collector: Collector, timed: Timed): unknown;
  /** Something that was tried and brought no entry. */
  miss(notGot: NotGot): void;
  recordSignal(record: SignalRecord): void;
}

const TITLES: Readonly<Record<Phase, string>> = {
  'first-look': 'First look at shim and inits',
  signal: 'Signal to the shim',
  sweep: 'Sweep over all threads',
  files: 'State files',
  samples: 'Samples',
  ask: 'What the runtime says',
  linger: 'Goroutine dump and logs',
  daemons: 'Goroutines of the daemons',
};

/**
 * All phases in their order; all collectors of one phase at once, each with its own deadline. A phase ends when each
 * of its collectors has ended or was given up, so a hanging one costs its deadline and no more. From the sweep on, when what
 * is soon gone was seen and the signal sent, others come first on the CPU.
 */
export async function runPhases(run: PhaseRun): Promise<void> {
  const notes = new Map<string, unknown>();
  for (const phase of PHASES) {
    const collectors = run.collectors.filter(collector => collector.phase === phase && wanted(collector, run));
    if (collectors.length === 0) continue;
    if (phase === 'sweep') run.host.leaveCpu();
    const startMs = run.host.now().offsetMs;
    const seen = { items: 0, missing: 0 };
    const shown = run.progress.phase(phase, TITLES[phase]);
    await Promise.all(
      collectors.map(async collector => {
        const unfinished = await collectOne(run, collector, notes, timed => {
          seen.items += 1;
          if (leavesGap(timed.evidence.outcome)) seen.missing += 1;
          return run.take(collector, timed);
        });
        if (unfinished === null) return;
        seen.missing += 1;
        run.miss({ what: `rest of ${collector.name}`, collector: collector.name, phase, ...unfinished });
      }),
    );
    const ms = Math.round(run.host.now().offsetMs - startMs);
    // The signal brings nothing by itself.
    const items = seen.items === 0 ? '' : `${seen.items} ${seen.items === 1 ? 'item' : 'items'} `;
    if (seen.missing === 0) shown.done(`${items}in ${ms} ms`);
    else shown.failed(`${items}in ${ms} ms, ${seen.missing} not whole`);
  }
}

function wanted(collector: Collector, run: PhaseRun): boolean {
  if (run.options.skip.includes(collector.name)) return false;
  if (collector.onRequest?.(run.options) === false) return false;
  return collector.targets === undefined || collector.targets.includes(run.target.kind);
}

async function collectOne(
  run: PhaseRun,
  collector: Collector,
  notes: Map<string, unknown>,
  take: (timed: Timed) => unknown,
): ReturnType<typeof runCollector> {
  const patience = patienceOf(run.options.timeoutMs);
  const untilMs = Math.min(run.host.now().offsetMs + collector.deadlineMs * patience, run.collectUntilMs);
  const leftMs = untilMs - run.host.now().offsetMs;
  if (leftMs <= 0) return { outcome: 'timeout', detail: 'not started: the time of the run was over' };
  if (run.interruption.aborted && collector.fromEntry !== true)
    return { outcome: 'timeout', detail: `not started: ${run.interruption.reason}` };
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(`${Math.round(leftMs)} ms were over`), leftMs);
  const signal = AbortSignal.any([deadline.signal, run.interruption]);
  const capture: Capture = {
    host: run.host,
    target: run.target,
    inventory: run.inventory,
    firstLook: run.firstLook,
    options: run.options,
    signal,
    patience,
    remainingMs: () => (signal.aborted ? 0 : Math.max(0, untilMs - run.host.now().offsetMs)),
    shims: run.target.kind === 'sandbox' ? run.target.sandbox.shims : [],
    rounds: () => rounds(run.host, run.options.samples, run.options.intervalMs, signal),
    notes,
    recordSignal: record => run.recordSignal(record),
  };
  try {
    return await runCollector(collector, capture, run.host, take);
  } finally {
    clearTimeout(timer);
  }
}
