/** What plan.json, the first entry, says. It may come from anybody, so nothing is believed of its shape. */
import type { HostRecord } from '../../bundle/manifest.ts';
import {
  booleanAt,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  parseObject,
  pidAt,
  stringAt,
  stringsAt,
  timeAt,
} from '../../formats/runtime/json.ts';
import type { Container, Pod, Sandbox, Shim, Target } from '../../sandbox/types.ts';

export interface PlanRecord {
  /** ms since 1970. */
  readonly startedAt: number;
  readonly host: HostRecord;
  readonly target: Target;
}

/** Null for a text that is no plan. */
export function parsePlan(text: string): PlanRecord | null {
  const plan = parseObject(text);
  const target = plan === null ? null : targetOf(objectAt(plan, 'target'));
  const startedAt = plan === null ? null : timeAt(plan, 'startedAt');
  if (plan === null || target === null || startedAt === null) return null;
  return { startedAt, host: hostOf(objectAt(plan, 'host')), target };
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
