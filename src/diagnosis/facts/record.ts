/**
 * What a bundle says about itself: plan.json, its first entry, and manifest.json, its last, which a bundle cut on the way
 * does not have. Both may come from anybody, so nothing is believed of their shape.
 */
import type { HostRecord, NotGot } from '../../bundle/manifest.ts';
import type { SignalRecord } from '../../bundle/signal-record.ts';
import {
  booleanAt,
  type JsonObject,
  objectAt,
  objectsAt,
  parseObject,
  pidAt,
  stringAt,
  stringsAt,
} from '../../formats/runtime/json.ts';
import type { Container, Pod, Sandbox, Shim, Target } from '../../sandbox/types.ts';
import type { StuckProbeFact } from '../facts.ts';

/** How one entry was got. */
export interface ItemRecord {
  readonly source: string;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly outcome: string;
  readonly detail: string | null;
}

export interface PlanRecord {
  /** ms since 1970. */
  readonly startedAt: number;
  readonly host: HostRecord;
  readonly target: Target;
}

export interface ManifestRecord {
  readonly durationMs: number | null;
  readonly items: ReadonlyMap<string, ItemRecord>;
  readonly notGot: readonly NotGot[];
  readonly signals: readonly SignalRecord[];
  readonly stuckProbes: readonly Omit<StuckProbeFact, 'cite'>[];
  /** Both clocks at one moment: ms since 1970, ms since boot. */
  readonly clocks: { readonly realtime: number; readonly monotonicMs: number } | null;
}

/** Null for a text that is no plan. */
export function parsePlan(text: string): PlanRecord | null {
  const plan = parseObject(text);
  const target = plan === null ? null : targetOf(objectAt(plan, 'target'));
  const startedAt = plan === null ? null : timeAt(plan, 'startedAt');
  if (plan === null || target === null || startedAt === null) return null;
  return { startedAt, host: hostOf(objectAt(plan, 'host')), target };
}

/** Null for a text that is no manifest. */
export function parseManifestRecord(text: string): ManifestRecord | null {
  const manifest = parseObject(text);
  if (manifest === null || manifest['format'] !== 1) return null;
  const capture = objectAt(manifest, 'capture');
  const clocks = objectAt(capture, 'clocks');
  const [realtime, monotonicNs] = [timeAt(clocks, 'realtime'), stringAt(clocks, 'monotonicNs')];
  return {
    durationMs: numberAt(capture, 'durationMs'),
    items: new Map(objectsAt(manifest, 'items').flatMap(itemOf)),
    notGot: objectsAt(manifest, 'notGot').map(notGotOf),
    signals: objectsAt(manifest, 'signals').map(signalOf),
    stuckProbes: objectsAt(manifest, 'stuckProbes').map(stuckProbeOf),
    clocks:
      realtime === null || monotonicNs === null || !/^\d+$/.test(monotonicNs)
        ? null
        : { realtime, monotonicMs: Number(monotonicNs) / 1e6 },
  };
}

function itemOf(item: JsonObject): [string, ItemRecord][] {
  const path = stringAt(item, 'path');
  if (path === null) return [];
  const record = {
    source: stringAt(item, 'source') ?? '',
    offsetMs: numberAt(item, 'offsetMs') ?? 0,
    durationMs: numberAt(item, 'durationMs') ?? 0,
    outcome: stringAt(item, 'outcome') ?? 'error',
    detail: stringAt(item, 'detail'),
  };
  return [[path, record]];
}

function notGotOf(object: JsonObject): NotGot {
  const [path, detail] = [stringAt(object, 'path'), stringAt(object, 'detail')];
  return {
    what: stringAt(object, 'what') ?? '',
    collector: stringAt(object, 'collector') ?? '',
    phase: stringAt(object, 'phase') ?? '',
    outcome: (stringAt(object, 'outcome') ?? 'error') as NotGot['outcome'],
    ...(path === null ? {} : { path }),
    ...(detail === null ? {} : { detail }),
  };
}

function signalOf(object: JsonObject): SignalRecord {
  return {
    pid: pidAt(object, 'pid') ?? 0,
    startTicks: stringAt(object, 'startTicks') ?? '',
    signal: 'SIGUSR1',
    outcome: stringAt(object, 'outcome') ?? '',
    offsetMs: numberAt(object, 'offsetMs') ?? 0,
    guards: objectsAt(object, 'guards').map(guard => ({
      guard: stringAt(guard, 'guard') ?? '',
      passed: booleanAt(guard, 'passed') ?? false,
      saw: stringAt(guard, 'saw') ?? '',
    })),
    steps: objectsAt(object, 'steps').map(step => ({
      offsetMs: numberAt(step, 'offsetMs') ?? 0,
      step: stringAt(step, 'step') ?? '',
      result: stringAt(step, 'result') ?? '',
    })),
    dump: stringAt(object, 'dump') ?? '',
  };
}

function stuckProbeOf(object: JsonObject): Omit<StuckProbeFact, 'cite'> {
  return {
    pid: pidAt(object, 'pid') ?? 0,
    request: stringAt(object, 'request') ?? '',
    item: stringAt(object, 'item') ?? '',
    offsetMs: numberAt(object, 'offsetMs') ?? 0,
    waitedMs: numberAt(object, 'waitedMs') ?? 0,
    state: stringAt(object, 'state'),
    wchan: stringAt(object, 'wchan'),
    syscall: stringAt(object, 'syscall'),
    stack: stringAt(object, 'stack'),
    fds: stringsAt(object, 'fds'),
    children: stringsAt(object, 'children'),
    reaped: booleanAt(object, 'reaped') ?? true,
  };
}

function hostOf(host: JsonObject): HostRecord {
  const zone = objectAt(host, 'timezone');
  return {
    hostname: stringAt(host, 'hostname') ?? '',
    bootId: stringAt(host, 'bootId'),
    kernel: stringAt(host, 'kernel') ?? '',
    architecture: stringAt(host, 'architecture') ?? '',
    cpus: numberAt(host, 'cpus') ?? 0,
    memoryBytes: numberAt(host, 'memoryBytes') ?? 0,
    uptimeSeconds: numberAt(host, 'uptimeSeconds'),
    timezone: { name: stringAt(zone, 'name') ?? 'unknown', utcOffsetMinutes: numberAt(zone, 'utcOffsetMinutes') ?? 0 },
  };
}

function targetOf(target: JsonObject): Target | null {
  const [kind, how, asked] = [stringAt(target, 'kind'), stringAt(target, 'how') ?? '', stringAt(target, 'asked')];
  if (kind === 'node') return { kind, how, asked: null };
  if (kind === 'sandbox') return { kind, how, asked, sandbox: sandboxOf(objectAt(target, 'sandbox')) };
  if (kind !== 'remnant') return null;
  const remnant = objectAt(target, 'remnant');
  const pod = podOf(objectAt(remnant, 'pod'));
  const what = stringAt(remnant, 'what') ?? '';
  const found = { ids: stringsAt(remnant, 'ids'), paths: stringsAt(remnant, 'paths') };
  return { kind, how, asked: asked ?? '', remnant: { what, pod, ...found } };
}

function sandboxOf(sandbox: JsonObject): Sandbox {
  return {
    id: stringAt(sandbox, 'id') ?? '',
    namespace: stringAt(sandbox, 'namespace') ?? '',
    pod: podOf(objectAt(sandbox, 'pod')),
    runtime: stringAt(sandbox, 'runtime') === 'docker' ? 'docker' : 'containerd',
    shims: objectsAt(sandbox, 'shims').map(shimOf),
    containers: objectsAt(sandbox, 'containers').map(containerOf),
  };
}

function podOf(pod: JsonObject): Pod | null {
  const name = stringAt(pod, 'name');
  return name === null ? null : { name, namespace: stringAt(pod, 'namespace') ?? '', uid: stringAt(pod, 'uid') };
}

function shimOf(shim: JsonObject): Shim {
  const version = numberAt(shim, 'shimVersion');
  return {
    pid: pidAt(shim, 'pid') ?? 0,
    startTicks: stringAt(shim, 'startTicks') ?? '',
    generation: stringAt(shim, 'generation') === 'v1' ? 'v1' : 'v2',
    bundle: stringAt(shim, 'bundle') ?? '',
    bundleDeleted: booleanAt(shim, 'bundleDeleted') ?? false,
    namespace: stringAt(shim, 'namespace') ?? '',
    id: stringAt(shim, 'id') ?? '',
    state: stringAt(shim, 'state') ?? '',
    root: stringAt(shim, 'root'),
    argv: Array.isArray(shim['argv']) ? stringsAt(shim, 'argv') : null,
    exe: stringAt(shim, 'exe'),
    address: stringAt(shim, 'address'),
    socket: stringAt(shim, 'socket'),
    shimVersion: version === 2 || version === 3 ? version : null,
  };
}

function containerOf(container: JsonObject): Container {
  return {
    id: stringAt(container, 'id') ?? '',
    kind: stringAt(container, 'kind') === 'sandbox' ? 'sandbox' : 'container',
    name: stringAt(container, 'name'),
    bundle: stringAt(container, 'bundle') ?? '',
    initPid: pidAt(container, 'initPid'),
    initStartTicks: stringAt(container, 'initStartTicks'),
    runcState: stringAt(container, 'runcState') ?? '',
    shimPid: pidAt(container, 'shimPid'),
    how: stringAt(container, 'how') ?? '',
  };
}

function numberAt(object: JsonObject, key: string): number | null {
  const value = Object.hasOwn(object, key) ? object[key] : null;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** ISO 8601 to ms since 1970. */
function timeAt(object: JsonObject, key: string): number | null {
  const ms = Date.parse(stringAt(object, key) ?? '');
  return Number.isNaN(ms) ? null : ms;
}
