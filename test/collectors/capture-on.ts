import type { Evidence } from '../../src/bundle/evidence.ts';
import type { Capture, Collector, GrabOptions } from '../../src/collectors/collector.ts';
import type { Host } from '../../src/host/port.ts';
import type { Container, Inventory, Remnant, RuntimeDaemon, Sandbox, Shim, Target } from '../../src/sandbox/types.ts';

export const SANDBOX_ID = 'a'.repeat(64);
export const CONTAINER_ID = 'b'.repeat(64);
const STATE = '/run/containerd';
export const TASKS = `${STATE}/io.containerd.runtime.v2.task/k8s.io`;
export const ROOT = '/var/lib/containerd';

export const SHIM: Shim = {
  pid: 2623,
  startTicks: '92682',
  generation: 'v2',
  bundle: `${TASKS}/${SANDBOX_ID}`,
  bundleDeleted: false,
  namespace: 'k8s.io',
  id: SANDBOX_ID,
  state: STATE,
  root: ROOT,
  argv: null,
  exe: null,
  address: '/run/containerd/containerd.sock',
  socket: null,
  shimVersion: 2,
};

export function containerOf(id: string, kind: Container['kind'], more: Partial<Container> = {}): Container {
  return {
    id,
    kind,
    name: kind === 'sandbox' ? null : 'app',
    bundle: `${TASKS}/${id}`,
    initPid: kind === 'sandbox' ? 2454 : 2503,
    initStartTicks: null,
    runcState: `/run/containerd/runc/k8s.io/${id}`,
    shimPid: SHIM.pid,
    how: 'annotation',
    ...more,
  };
}

/** A pod with one container, as containerd 1.6 has it. */
export const POD: Sandbox = {
  id: SANDBOX_ID,
  namespace: 'k8s.io',
  pod: { name: 'web-0', namespace: 'shop', uid: '48928a4e-351c-4326-9332-0d8a02b0f34a' },
  runtime: 'containerd',
  shims: [SHIM],
  containers: [containerOf(SANDBOX_ID, 'sandbox'), containerOf(CONTAINER_ID, 'container')],
};

export const CONTAINERD: RuntimeDaemon = {
  kind: 'containerd',
  pid: 812,
  startTicks: '100',
  exe: '/usr/bin/containerd',
  argv: ['containerd'],
  procState: 'S',
  address: '/run/containerd/containerd.sock',
  root: ROOT,
  state: STATE,
};

export const DOCKERD: RuntimeDaemon = {
  ...CONTAINERD,
  kind: 'dockerd',
  pid: 900,
  argv: ['dockerd'],
  address: 'fd://',
  root: '/var/lib/docker',
  state: '/var/run/docker',
};

export interface Circumstances {
  readonly sandbox?: Sandbox;
  readonly remnant?: Remnant;
  readonly daemons?: readonly RuntimeDaemon[];
  readonly options?: Partial<GrabOptions>;
  readonly signal?: AbortSignal;
  /** Default: long enough. */
  readonly remainingMs?: number;
  /** Default: as many as options.samples, without a pause. */
  readonly rounds?: () => AsyncIterable<number>;
}

/** A capture of a pod, of a remnant, or of the node when neither is given. */
export function captureOn(host: Host, circumstances: Circumstances = {}): Capture {
  const { sandbox, remnant, daemons = [CONTAINERD], options = {}, remainingMs = 10_000 } = circumstances;
  const target: Target =
    sandbox !== undefined
      ? { kind: 'sandbox', asked: null, how: 'id', sandbox }
      : remnant !== undefined
        ? { kind: 'remnant', asked: 'web-0', how: 'log directory', remnant }
        : { kind: 'node', asked: null, how: 'asked for' };
  const all: GrabOptions = {
    ...{ timeoutMs: 30_000, samples: 3, intervalMs: 1000, sinceMs: 1_800_000, maxBytes: 128 << 20 },
    ...{ signal: true, forceSignal: false, signalAgain: false, daemons: false, skip: [], note: null, attach: [] },
    ...options,
  };
  const inventory: Inventory = { sandboxes: sandbox === undefined ? [] : [sandbox], daemons, gaps: [] };
  return {
    host,
    target,
    inventory,
    firstLook: { matchedBy: 'id', shims: [], firstStackMs: null },
    options: all,
    signal: circumstances.signal ?? new AbortController().signal,
    remainingMs: () => remainingMs,
    patience: 1,
    shims: sandbox?.shims ?? [],
    rounds: circumstances.rounds ?? (() => counted(all.samples)),
    notes: new Map(),
    recordSignal() {},
  };
}

async function* counted(samples: number): AsyncGenerator<number> {
  for (let round = 1; round <= samples; round += 1) yield round;
}

/** Everything that a collector brings, by path. Two entries of one path fail the test. */
export async function broughtBy(collector: Collector, capture: Capture): Promise<ReadonlyMap<string, Evidence>> {
  const brought = new Map<string, Evidence>();
  for await (const evidence of collector.collect(capture)) {
    if (brought.has(evidence.path)) throw new Error(`${evidence.path} came twice`);
    brought.set(evidence.path, evidence);
  }
  return brought;
}

export function textOf(brought: ReadonlyMap<string, Evidence>, path: string): string {
  const evidence = brought.get(path);
  if (evidence === undefined) throw new Error(`no ${path} among ${[...brought.keys()].join(', ')}`);
  return evidence.body.toString('utf8');
}
