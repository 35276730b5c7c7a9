/** Bundles of a few made-up entries, for what no lab can show on demand. */
import type { Facts } from '../../src/diagnosis/facts.ts';
import { factsFromEntries } from '../../src/diagnosis/read-facts.ts';
import { CONTAINER_ID, SANDBOX_ID, SHIM_PID, STARTED_AT } from './facts-of.ts';

export const POD_UID = '0d6f1c9e-6a53-4b53-9a43-0d1f5d3a8c11';

interface MadeEntry {
  readonly text: string;
  /** Of its item in the manifest. */
  readonly offsetMs?: number;
  readonly durationMs?: number;
  readonly outcome?: string;
  readonly detail?: string;
}

export interface MadeBundle {
  readonly entries: Readonly<Record<string, string | MadeEntry>>;
  /** Members of the sandbox that differ from shop/web-0 with one shim and one container. */
  readonly sandbox?: object;
  readonly target?: object;
  readonly notGot?: readonly object[];
  readonly manifest?: object | null;
  readonly architecture?: string;
}

/** Facts of a bundle with these entries; `manifest: null` is one that was cut before its manifest. */
export function factsOfMade(bundle: MadeBundle): Facts {
  return factsFromEntries(madeEntries(bundle), { cut: bundle.manifest === null });
}

export function madeEntries(bundle: MadeBundle): ReadonlyMap<string, Uint8Array> {
  const made = Object.entries(bundle.entries).map(([path, entry]) => {
    return [path, typeof entry === 'string' ? { text: entry } : entry] as const;
  });
  const items = made.map(([path, { offsetMs = 100, durationMs = 1, outcome = 'ok', detail }]) => {
    return { path, source: path, offsetMs, durationMs, outcome, ...(detail === undefined ? {} : { detail }) };
  });
  const host = {
    ...{ hostname: 'node-1', bootId: null, kernel: '6.1.0', architecture: bundle.architecture ?? 'x64', cpus: 4 },
    ...{ memoryBytes: 2 ** 34, uptimeSeconds: 100_000, timezone: { name: 'Etc/UTC', utcOffsetMinutes: 0 } },
  };
  const startedAt = new Date(STARTED_AT).toISOString();
  const plan = { format: 1, startedAt, host, target: bundle.target ?? targetWith(bundle.sandbox ?? {}) };
  const capture = {
    ...{ startedAt, durationMs: 5000, outcome: 'complete' },
    clocks: { realtime: startedAt, monotonicNs: '100000000000000', offsetMs: 0 },
  };
  const record = {
    format: 1,
    capture,
    items,
    notGot: bundle.notGot ?? [],
    signals: [],
    stuckProbes: [],
    ...bundle.manifest,
  };
  const documents: readonly (readonly [string, object])[] = [
    ['plan.json', plan],
    ...(bundle.manifest === null ? [] : ([['manifest.json', record]] as const)),
  ];
  return new Map([
    ...made.map(([path, { text }]) => [path, Buffer.from(text)] as const),
    ...documents.map(([path, document]) => [path, Buffer.from(JSON.stringify(document))] as const),
  ]);
}

function targetWith(sandbox: object) {
  const bundle = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/`;
  const shim = { pid: SHIM_PID, startTicks: '1', generation: 'v2', bundle: bundle + SANDBOX_ID, id: SANDBOX_ID };
  const container = { id: CONTAINER_ID, kind: 'container', name: 'app', bundle: bundle + CONTAINER_ID, initPid: 2700 };
  return {
    ...{ kind: 'sandbox', asked: 'web-0', how: 'pod name' },
    sandbox: {
      ...{ id: SANDBOX_ID, namespace: 'k8s.io', runtime: 'containerd' },
      pod: { name: 'web-0', namespace: 'shop', uid: POD_UID },
      shims: [{ ...shim, namespace: 'k8s.io', state: '/run/containerd', root: '/var/lib/containerd', argv: null }],
      containers: [{ ...container, initStartTicks: '5', runcState: '', shimPid: SHIM_PID, how: 'annotation' }],
      ...sandbox,
    },
  };
}
