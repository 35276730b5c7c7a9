/** The smallest facts that a rule can be tried on: all that a test does not name was not captured, or is unremarkable. */
import type {
  ContainerFacts,
  Device,
  DeviceFacts,
  DeviceRates,
  Facts,
  Frame,
  GoroutineFact,
  KernelEvent,
  LogCount,
  LogEvent,
  LogFacts,
  LogKind,
  PodThreads,
  Process,
  ProcessTable,
  ShimFacts,
  ShimGoroutines,
  SignalFact,
  Thread,
} from '../../src/diagnosis/facts.ts';
import { parseGoroutines } from '../../src/formats/goroutines/parse-goroutines.ts';
import { parseFrame } from '../../src/formats/proc/stack.ts';

export const SANDBOX_ID = '5a'.repeat(32);
export const CONTAINER_ID = 'c1'.repeat(32);
export const SHIM_PID = 2623;
/** 2026-11-29T11:42:30.000Z */
export const STARTED_AT = Date.UTC(2026, 10, 29, 11, 42, 30);

/** Facts of a bundle in which nothing was captured but what is named. `capture` and `target` may be given in part. */
export function factsOf(
  partial: Partial<Omit<Facts, 'capture' | 'target'>> & {
    readonly capture?: Partial<Facts['capture']>;
    readonly target?: Partial<Facts['target']>;
  } = {},
): Facts {
  const { capture, target, ...rest } = partial;
  return {
    ...{ threads: null, nodeThreads: null, processes: null, goroutines: null, daemonGoroutines: null },
    ...{ containers: null, shims: null, daemons: null, devices: null, pressure: null, dirty: null, writers: null },
    ...{ mounts: null, fuse: null, cgroups: null, logs: null, kernel: null, commands: null },
    ...{ stuckProbes: null, signals: null, attached: null, holders: null },
    capture: { ...CAPTURE, ...capture },
    target: { ...TARGET, ...target },
    ...rest,
  };
}

const CAPTURE: Facts['capture'] = {
  startedAt: STARTED_AT,
  durationMs: 4000,
  hostname: 'node-1',
  kernel: '6.1.0-13-amd64',
  architecture: 'x64',
  cpus: 4,
  memoryBytes: 16 * 2 ** 30,
  uptimeSeconds: 1_000_000,
  utcOffsetMinutes: 0,
  timezone: 'Etc/UTC',
  cgroupVersion: 2,
  versions: { containerd: '1.6.20', runc: '1.1.5', docker: null, kubelet: null, shimMajor: 1 },
  notGot: [],
  flawed: new Map(),
  cut: false,
};

const TARGET: Facts['target'] = {
  target: {
    kind: 'sandbox',
    asked: 'shop/web-0',
    how: 'pod name',
    sandbox: {
      id: SANDBOX_ID,
      namespace: 'k8s.io',
      pod: { name: 'web-0', namespace: 'shop', uid: '0d6f1c9e-6a53-4b53-9a43-0d1f5d3a8c11' },
      runtime: 'containerd',
      shims: [],
      containers: [],
    },
  },
  name: 'shop/web-0',
  podUid: '0d6f1c9e-6a53-4b53-9a43-0d1f5d3a8c11',
  sandboxId: SANDBOX_ID,
  ids: new Set([SANDBOX_ID, CONTAINER_ID]),
  runtime: 'containerd',
};

const cited = (entry: string, text: string, line = 1) => ({ entry, line, text });

/**
 * A thread. `stack` as the text of the file, innermost first (`ovl_sync_fs+0x59/0x90 [overlay]`, one per line). Without more it is a
 * thread of the shim in D that never moved, for 20 s.
 */
export function threadOf({
  stack = '',
  ...partial
}: Partial<Omit<Thread, 'stack'>> & { stack?: string | null }): Thread {
  const entry = partial.entry ?? 'shim/threads-4.txt';
  const tid = partial.tid ?? 2631;
  return {
    ...{ pid: SHIM_PID, tid, comm: 'containerd-shim', role: 'shim', container: null, state: 'D', wchan: null },
    ...{ call: null, inPageFault: false, blockedForMs: 20_000, moved: 'never', seen: 4, looks: 4, seenForMs: 3000 },
    unchanged: ['system call and arguments', 'kernel stack', 'no CPU time and no context switch'],
    inSameCall: { looks: 4, forMs: 3000 },
    idle: false,
    entry,
    cites: [cited(entry, `===== ${tid} containerd-shim D … =====`)],
    ...partial,
    stack: stack === null ? null : framesOf(stack),
  };
}

/** A thread of the node in D, as the sweep saw it: once. */
export function sweptThread(partial: Parameters<typeof threadOf>[0]): Thread {
  return threadOf({ role: 'other', moved: 'once', entry: 'node/blocked.txt', ...partial });
}

/** Threads of the node in D, threads of the pod, and an idle disk below containerd. */
export function factsWithThreads(blocked: readonly Thread[], own: readonly Thread[], rest: Partial<Facts> = {}): Facts {
  return factsOf({
    nodeThreads: { blocked, stacks: 'all' },
    threads: podThreads(...own),
    devices: devicesOf(deviceOf()),
    ...rest,
  });
}

function framesOf(text: string): readonly Frame[] {
  return text.split('\n').flatMap((line, index) => {
    const frame = parseFrame(line);
    return frame === null ? [] : [{ symbol: frame.symbol, module: frame.module, text: line.trim(), line: index + 3 }];
  });
}

export function podThreads(...all: readonly Thread[]): PodThreads {
  return { all, looks: 4, stacks: 'all', wchans: 'all' };
}

/** `umount2` with arguments as a register dump has them. */
export function callOf(name: string, number: number, ...args: readonly string[]): Thread['call'] {
  return { name, number, args: [...args, '0x0', '0x0', '0x0', '0x0', '0x0', '0x0'].slice(0, 6) };
}

/** Goroutines from the text of a dump; `rpc`, `tid` and locks are the test's own. */
export function goroutinesOf(
  text: string,
  extra: Partial<Omit<ShimGoroutines, 'all'>> & { each?: (goroutine: GoroutineFact) => Partial<GoroutineFact> } = {},
): ShimGoroutines {
  const { each, ...rest } = extra;
  const entry = rest.entry ?? 'shim/goroutines.txt';
  const all = parseGoroutines(text).goroutines.map((goroutine): GoroutineFact => {
    const { id, state, minutes, frames, lineNumber } = goroutine;
    const heading = cited(entry, `goroutine ${id} [${state}]:`, lineNumber);
    const fact: GoroutineFact = { id, state, minutes, frames, line: lineNumber, cite: heading, rpc: null, tid: null };
    return { ...fact, ...each?.(fact) };
  });
  const groups = all.map(example => ({
    ...{ example, count: 1, oldestMinutes: example.minutes, youngestMinutes: example.minutes },
  }));
  return {
    shimPid: SHIM_PID,
    entry,
    complete: true,
    verdict: 'complete',
    all,
    groups,
    locks: [],
    idle: false,
    ...rest,
  };
}

export function ratesOf(partial: Partial<DeviceRates> = {}): DeviceRates {
  return {
    ...{ seconds: 2, readsPerSecond: 0, writesPerSecond: 0, readBytesPerSecond: 0, writtenBytesPerSecond: 0 },
    ...{ readAwaitMs: null, writeAwaitMs: null, awaitMs: null, utilPercent: 0, queueLength: 0, completed: 0 },
    ...partial,
  };
}

/** An idle disk below containerd's root, unless told otherwise. */
export function deviceOf(partial: Partial<Device> = {}): Device {
  const name = partial.name ?? 'nvme1n1';
  const rates = partial.rates === undefined ? ratesOf() : partial.rates;
  return {
    ...{ name, number: '259:1', roles: ["containerd's root"], mountPoints: ['/var/lib/containerd'], below: [] },
    samples: [0, 1000, 2000].map(offsetMs => ({
      ...{ offsetMs, inFlight: 0, cite: cited('node/samples.jsonl', name) },
    })),
    rates,
    intervals: rates === null ? [] : [rates, rates],
    alwaysInFlight: false,
    ...partial,
  };
}

export function devicesOf(...all: readonly Device[]): DeviceFacts {
  return { all, samples: 3, spanMs: 2000 };
}

/** A running container whose init is alive, and of which nothing else was captured. */
export function containerOf(partial: Partial<ContainerFacts> = {}): ContainerFacts {
  return {
    ...{ id: CONTAINER_ID, kind: 'container', name: 'app', shimPid: SHIM_PID, initPid: 2700, init: 'alive' },
    ...{
      initCite: null,
      seenBeforeStatusMs: null,
      bundle: null,
      runc: null,
      execFifo: null,
      criStatus: null,
      docker: null,
      shimAnswer: null,
    },
    ...{ runcErrors: [], cgroup: null, views: [] },
    ...partial,
  };
}

export function shimOf(partial: Partial<ShimFacts> = {}): ShimFacts {
  return {
    ...{ pid: SHIM_PID, folder: 'shim', generation: 'v2', bundleDeleted: false, alive: true, ageMs: 3_600_000 },
    ...{ children: null, descriptors: null, connect: null, state: 'S', firstLook: null },
    cite: cited('shim/threads-1.txt', `# process ${SHIM_PID} containerd-shim`),
    ...partial,
  };
}

/** SIGUSR1 to the shim, sent, and its whole dump got; one step on the way. */
export function signalOf(step: SignalFact['steps'][number]): SignalFact {
  return {
    ...{
      pid: SHIM_PID,
      startTicks: '1',
      signal: 'SIGUSR1',
      outcome: 'sent',
      offsetMs: 10,
      guards: [],
      dump: 'complete',
    },
    steps: [step],
    cite: cited('manifest.json', `SIGUSR1 to ${SHIM_PID}`),
  };
}

export function processOf(partial: Partial<Process> & Pick<Process, 'pid'>): Process {
  const fact = { ppid: 1, stat: 'S', wchan: null, ageMs: 60_000, args: 'sleep', threads: 1, threadsInD: 0, ...partial };
  return {
    ...fact,
    cite: partial.cite ?? cited('node/processes.txt', `${fact.pid} ${fact.ppid} ${fact.stat} ${fact.args}`),
  };
}

export function processTable(...rows: readonly Process[]): ProcessTable {
  const sum = (value: (row: Process) => number) => rows.reduce((total, row) => total + value(row), 0);
  return {
    byPid: new Map(rows.map(row => [row.pid, row])),
    children: Map.groupBy(rows, ({ ppid }) => ppid),
    threads: sum(({ threads }) => threads),
    threadsInD: sum(({ threadsInD }) => threadsInD),
    hung: [],
  };
}

/** A line of containerd about the target's container, `agoMs` before the capture. */
export function eventOf(kind: LogKind, partial: Partial<LogEvent> & { readonly agoMs?: number } = {}): LogEvent {
  const { agoMs = 60_000, ...rest } = partial;
  const message = rest.message ?? kind;
  return {
    ...{ source: 'containerd', kind, time: STARTED_AT - agoMs, level: 'error', container: CONTAINER_ID },
    ...{ ids: [CONTAINER_ID], error: null, exitedAt: null },
    ...rest,
    message,
    cite: rest.cite ?? cited('logs/containerd.log', message),
  };
}

/** Logs with these events; counts are made from them. */
export function logsOf(events: readonly LogEvent[], partial: Partial<LogFacts> = {}): LogFacts {
  const counts = new Map(
    [...Map.groupBy(events, ({ kind }) => kind)].map(([kind, of]): [LogKind, LogCount] => {
      const times = of.flatMap(({ time }) => time ?? []);
      const containers = new Set(of.flatMap(({ ids }) => ids)).size;
      const [first = null, last = null] = [times.at(0), times.at(-1)];
      return [kind, { count: of.length, containers, first, last, examples: of.slice(0, 5) }];
    }),
  );
  const source = { source: 'containerd', entry: 'logs/containerd.log', lines: events.length, whole: true } as const;
  return {
    sources: [{ ...source, from: STARTED_AT - 1_800_000, to: STARTED_AT }],
    events,
    counts,
    stateTimeouts: { total: 0, byContainer: new Map(), perMinute: null },
    ...partial,
  };
}

export function kernelEventOf(partial: Partial<KernelEvent> & Pick<KernelEvent, 'kind' | 'text'>): KernelEvent {
  return {
    ...{ time: STARTED_AT - 60_000, comm: null, pid: null, device: null, container: null, ofPod: false },
    ...{ hungForMs: null, trace: null, cite: cited('logs/kernel.log', partial.text) },
    ...partial,
  };
}
