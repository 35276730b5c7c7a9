/**
 * What manifest.json says, the last entry, which a bundle that was cut does not have. It may come from anybody, so nothing is believed of
 * its shape.
 */
import type { NotGot } from '../../bundle/manifest.ts';
import type { SignalRecord } from '../../bundle/signal-record.ts';
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
import type { StuckProbeFact } from '../facts.ts';

/** How one entry was got. */
export interface ItemRecord {
  readonly source: string;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly outcome: string;
  readonly detail: string | null;
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
