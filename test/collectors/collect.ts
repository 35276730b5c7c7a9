import type { Evidence } from '../../src/bundle/evidence.ts';
import type { SignalRecord } from '../../src/bundle/signal-record.ts';
import { SILENT } from '../../src/capture/progress.ts';
import { runPhases } from '../../src/capture/run-phases.ts';
import type { Collector, GrabOptions } from '../../src/collectors/collector.ts';
import { createHost } from '../../src/host/linux.ts';
import type { FirstLook, Host } from '../../src/host/port.ts';
import { takeInventory } from '../../src/sandbox/inventory.ts';
import type { Inventory, Sandbox, Target } from '../../src/sandbox/types.ts';

export interface Collected {
  /** By path in the bundle. */
  readonly evidence: ReadonlyMap<string, Evidence>;
  readonly signals: readonly SignalRecord[];
  /** 'rest of sweep: timeout (…)' */
  readonly notGot: readonly string[];
  readonly host: Host;
  readonly sandbox: Sandbox;
  readonly ms: number;
}

export interface CollectOptions extends Partial<GrabOptions> {
  /** What the entry saw before, of this sandbox. */
  readonly firstLook?: (sandbox: Sandbox, host: Host) => FirstLook;
  /** Another target than the sandbox as it was found. */
  readonly target?: (sandbox: Sandbox, inventory: Inventory) => Sandbox;
  /** Other daemons than were found. */
  readonly daemonsFound?: (daemons: Inventory['daemons']) => Inventory['daemons'];
  /** Between the inventory and the first phase. */
  readonly before?: (sandbox: Sandbox, host: Host) => void | Promise<void>;
}

const DEFAULTS: GrabOptions = {
  timeoutMs: 30_000,
  samples: 2,
  intervalMs: 100,
  sinceMs: 60_000,
  maxBytes: 128 << 20,
  signal: true,
  forceSignal: false,
  signalAgain: false,
  daemons: false,
  skip: [],
  note: null,
  attach: [],
};

const NO_LOOK: FirstLook = { matchedBy: 'all', shims: [], firstStackMs: null };

/** Runs collectors for one sandbox on this very machine, by the engine that a grab uses, with real probes. */
export async function collect(
  id: string,
  collectors: readonly Collector[],
  given: CollectOptions = {},
): Promise<Collected> {
  const { firstLook, before, target: changeTarget, daemonsFound, ...changed } = given;
  const options = { ...DEFAULTS, ...changed };
  const host = createHost();
  try {
    const seen = await takeInventory(host, null, 10_000);
    const inventory = daemonsFound === undefined ? seen : { ...seen, daemons: daemonsFound(seen.daemons) };
    const found = inventory.sandboxes.find(each => each.id === id);
    if (found === undefined) throw new Error(`no sandbox ${id} among ${inventory.sandboxes.map(each => each.id)}`);
    const sandbox = changeTarget?.(found, inventory) ?? found;
    const look = firstLook?.(sandbox, host) ?? NO_LOOK;
    await before?.(sandbox, host);
    const target: Target = { kind: 'sandbox', asked: id, how: 'id', sandbox };
    const evidence = new Map<string, Evidence>();
    const signals: SignalRecord[] = [];
    const notGot: string[] = [];
    const startMs = host.now().offsetMs;
    await runPhases({
      host,
      firstLook: look,
      inventory,
      target,
      options,
      collectors,
      collectUntilMs: startMs + options.timeoutMs,
      interruption: new AbortController().signal,
      progress: SILENT,
      take: (_, timed) => void evidence.set(timed.evidence.path, timed.evidence),
      miss: missed => void notGot.push(`${missed.what}: ${missed.outcome} (${missed.detail})`),
      recordSignal: record => void signals.push(record),
    });
    return { evidence, signals, notGot, host, sandbox, ms: host.now().offsetMs - startMs };
  } finally {
    await host.close();
  }
}
