import type { Device, Facts } from '../../diagnosis/facts.ts';

/** Counters, as what they did in a second: in A, and in B. */
export interface Rates {
  readonly devices: readonly {
    readonly name: string;
    readonly writtenBytesPerSecond: Pair;
    readonly readBytesPerSecond: Pair;
    readonly utilPercent: Pair;
    readonly awaitMs: Pair;
  }[];
  readonly dirtyBytes: Pair | null;
  /** `get state for` timeouts of the node per minute of the log. */
  readonly stateTimeouts: Pair | null;
}

/** Null where a bundle does not say. */
export interface Pair {
  readonly before: number | null;
  readonly after: number | null;
}

/** Devices that do something in either bundle, or that carry something of the pod. */
export function ratesBetween(a: Facts, b: Facts): Rates {
  const [before, after] = [a, b].map(
    ({ devices }) => new Map((devices?.all ?? []).map(device => [device.name, device])),
  );
  const names = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])];
  const devices = names.flatMap(name => {
    const [was, is] = [before?.get(name), after?.get(name)];
    return matters(was) || matters(is) ? [deviceBetween(name, was, is)] : [];
  });
  return {
    devices,
    dirtyBytes: pair(a.dirty?.bytes, b.dirty?.bytes),
    stateTimeouts: pair(a.logs?.stateTimeouts.perMinute, b.logs?.stateTimeouts.perMinute),
  };
}

function matters(device: Device | undefined): boolean {
  return device !== undefined && (device.roles.length > 0 || (device.rates?.utilPercent ?? 0) > 1);
}

function deviceBetween(name: string, was: Device | undefined, is: Device | undefined): Rates['devices'][number] {
  const of = (key: 'writtenBytesPerSecond' | 'readBytesPerSecond' | 'utilPercent' | 'awaitMs'): Pair => ({
    before: was?.rates?.[key] ?? null,
    after: is?.rates?.[key] ?? null,
  });
  return {
    name,
    writtenBytesPerSecond: of('writtenBytesPerSecond'),
    readBytesPerSecond: of('readBytesPerSecond'),
    utilPercent: of('utilPercent'),
    awaitMs: of('awaitMs'),
  };
}

function pair(before: number | null | undefined, after: number | null | undefined): Pair | null {
  return before == null && after == null ? null : { before: before ?? null, after: after ?? null };
}
