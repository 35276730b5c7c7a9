import { BundleError } from '../../bundle/bundle-error.ts';
import type { LogContext } from '../../formats/logs/timestamp.ts';
import type { Facts } from '../facts.ts';
import { targetFrom } from './capture.ts';
import type { Entries } from './entries.ts';
import { isKept, KEPT_BYTES, KEPT_BYTES_IN_ALL } from './kept.ts';
import { lineSink, type Sink, textSink } from './lines.ts';
import { logReader, sourceOfLog } from './logs.ts';
import { makeFacts } from './make.ts';
import { type ManifestRecord, parseManifestRecord } from './manifest-record.ts';
import { type PlanRecord, parsePlan } from './plan-record.ts';
import { PROCESSES, processReader } from './processes.ts';
import { SAMPLES, sampleReader } from './samples.ts';

export const PLAN = 'plan.json';
export const MANIFEST = 'manifest.json';

/** A goroutine dump in one line has some 100 kB; what is said of the pod stands in shorter ones. */
const MAX_LOG_LINE = 1 << 20;

/** Facts in the making: every entry is offered once, in the bundle's order, plan.json first. */
export interface Gathering {
  /** Where the bytes of an entry go; null for one that tells nothing and may be skipped. Throws BundleError before plan.json. */
  open(path: string): Sink | null;
  /** `cut`: the bundle ended before its end. */
  facts(ending: { readonly cut: boolean }): Facts;
}

/** Entries go in, facts come out. KEPT_BYTES_IN_ALL bounds what it holds. */
export function gather(): Gathering {
  const texts = new Map<string, string>();
  const samples = sampleReader();
  const processes = processReader();
  let plan: PlanRecord | null = null;
  let manifest: ManifestRecord | null = null;
  let logs: ReturnType<typeof logReader> | null = null;
  let left = KEPT_BYTES_IN_ALL;

  const keep = (path: string) =>
    textSink(Math.min(KEPT_BYTES, left), text => {
      left -= text.length;
      texts.set(path, text);
    });

  return {
    open(path) {
      if (path === PLAN) {
        return textSink(KEPT_BYTES, text => {
          plan = parsePlan(text);
          if (plan === null) throw new BundleError('not-a-bundle', 'is no plan of a capture', PLAN);
          logs = logReader(targetFrom(plan), contextOf(plan));
        });
      }
      if (path === MANIFEST) {
        return textSink(KEPT_BYTES, text => {
          manifest = parseManifestRecord(text);
        });
      }
      if (logs === null)
        throw new BundleError('not-a-bundle', 'the file is no bundle: plan.json is not its first entry');
      const source = sourceOfLog(path);
      if (source !== null) return lineSink(logs.reader(path, source), MAX_LOG_LINE);
      if (path === SAMPLES) return lineSink(samples.read);
      if (path === PROCESSES) return lineSink(processes.read);
      return isKept(path) ? keep(path) : null;
    },
    facts({ cut }) {
      if (plan === null || logs === null)
        throw new BundleError(
          'not-a-bundle',
          'the file has no plan.json: it is no bundle, or was cut before its first entry ended',
        );
      const entries: Entries = {
        ...{ plan, manifest },
        text: path => texts.get(path) ?? null,
        matching: form => [...texts.keys()].filter(path => form.test(path)),
        item: path => manifest?.items.get(path) ?? null,
      };
      const table = processes.table(entries.item(PROCESSES));
      return makeFacts(entries, {
        processes: table,
        samples: samples.samples(),
        logs,
        cut,
        context: contextOf(plan, manifest),
      });
    },
  };
}

/** What log lines leave out. The kernel's clock is placed by the manifest, where there is one, else by the uptime. */
function contextOf({ startedAt, host }: PlanRecord, manifest: ManifestRecord | null = null): LogContext {
  const clocks = manifest?.clocks ?? null;
  const bootedAt =
    clocks !== null
      ? clocks.realtime - clocks.monotonicMs
      : host.uptimeSeconds === null
        ? undefined
        : startedAt - host.uptimeSeconds * 1000;
  return {
    year: new Date(startedAt).getUTCFullYear(),
    utcOffset: host.timezone.utcOffsetMinutes,
    notAfter: startedAt,
    ...(bootedAt === undefined ? {} : { bootedAt }),
  };
}
