import { setTimeout as sleep } from 'node:timers/promises';
import type { Origin } from '../bundle/item-of.ts';
import type { Manifest } from '../bundle/manifest.ts';
import type { Plan } from '../bundle/plan.ts';
import type { SignalRecord } from '../bundle/signal-record.ts';
import { type BundleContent, type BundleWriter, createBundleWriter } from '../bundle/writer.ts';
import { parseViews, VIEWS_PATH, type ViewsDocument } from '../formats/views/document.ts';
import type { Interruption } from '../host/interruption.ts';
import type { Output } from '../host/output.ts';
import type { Host } from '../host/port.ts';
import type { Report } from '../report/report.ts';
import { shareOut } from './budget.ts';
import type { Grabbed, GrabRequest, Machine, Seen } from './grab-request.ts';
import { afterwards } from './interruptible.ts';
import { type Judging, judging } from './judging.ts';
import { manifestOf } from './manifest-of.ts';
import { planOf } from './plan-of.ts';
import { runPhases } from './run-phases.ts';

/** From the interruption to the seal: two seconds, and the end of the process must fit in as well. */
const INTERRUPTED_SEAL_MS = 1800;
/** Of these, for entries that are there and not yet packed. */
const INTERRUPTED_PACK_MS = 500;

/** Runs all phases against a target that was found, and seals the bundle, whatever happened on the way. */
export async function grab(request: GrabRequest, machine: Machine): Promise<Grabbed> {
  const { host, interruption } = machine;
  const budget = shareOut(request.options.timeoutMs);
  const signals: SignalRecord[] = [];
  const threadDumps = new Map<string, string>();
  let views: ViewsDocument | null = null;
  const judge = judging();
  const opened = openBundle(request, host, judge);
  opened.catch(() => undefined);
  const adds: Promise<unknown>[] = [];
  const fault = await runPhases({
    ...machine,
    ...request,
    collectUntilMs: budget.collectUntilMs,
    interruption: interruption.signal,
    take(collector, { evidence, ...at }) {
      if (isThreadDump(evidence.path)) threadDumps.set(evidence.path, evidence.body.toString('utf8'));
      if (evidence.path === VIEWS_PATH) views = parseViews(evidence.body.toString('utf8'));
      const origin: Origin = { collector: collector.name, phase: collector.phase, ...at };
      const added = opened.then(({ bundle }) => bundle.add(evidence, origin));
      adds.push(added);
      return added;
    },
    miss: missed => opened.then(({ bundle }) => bundle.miss(missed)),
    recordSignal: record => signals.push(record),
  }).then(
    () => null,
    (error: unknown) => String(error),
  );
  const { bundle, plan, output, maxBytes } = await opened;
  const leftMs = budget.collectUntilMs - host.now().offsetMs;
  const written = await settledIn(adds, leftMs, interruption.signal);
  const manifestWith = (content: BundleContent): Manifest =>
    manifestOf({ request, host, plan, place: output.current, maxBytes, content, signals, interruption, fault });
  let report: Report | null = null;
  const seenOf = (content: BundleContent): Seen => {
    return { target: request.target, content, signals, threadDumps, report, views };
  };
  const closed = await bundle.close({
    summary(content) {
      report = judge.report(manifestWith(content));
      return request.summary(seenOf(content));
    },
    manifest: manifestWith,
    deadlineMs: Math.max(500, sealUntil(budget.endMs, interruption) - host.now().offsetMs),
    hurry: !written,
  });
  return { ...closed, seen: seenOf(bundle.content) };
}

function sealUntil(endMs: number, { atMs }: Interruption): number {
  return atMs === null ? endMs : Math.min(endMs, atMs + INTERRUPTED_SEAL_MS);
}

/** True when all of them are settled; false when the time or the user's patience was over before. */
async function settledIn(all: readonly Promise<unknown>[], ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms <= 0) return false;
  const over = new AbortController();
  const settled = Promise.allSettled(all).then(() => true);
  const impatient = afterwards(signal, INTERRUPTED_PACK_MS);
  const late = sleep(ms, false, { signal: AbortSignal.any([impatient, over.signal]) }).catch(() => false);
  const written = await Promise.race([settled, late]);
  over.abort();
  return written;
}

function isThreadDump(path: string): boolean {
  return /(?:^|\/)(?:threads|children)-\d+\.txt$/.test(path) || path === 'node/blocked.txt';
}

interface Opened {
  readonly bundle: BundleWriter;
  readonly plan: Plan;
  readonly output: Output;
  readonly maxBytes: number;
}

/** The bundle, with plan.json in it. Waits for two slow questions (which disk lies below, which time zone), so nobody waits for it. */
async function openBundle(request: GrabRequest, host: Host, judge: Judging): Promise<Opened> {
  const { plan, folder } = await planOf(request, host);
  const { places, maxBytes } = await request.places(`${folder}.tar.gz`);
  const output = request.openOutput(places);
  const bundle = createBundleWriter({
    ...{ folder, output, plan, maxBytes, startedAt: host.startedAt },
    now: () => host.now(),
    transform: request.transform,
    written: judge.take,
  });
  // A bundle directory that did not answer may be that of one more container of the pod.
  for (const { path, ...why } of request.inventory.gaps) {
    bundle.miss({ what: path, collector: 'inventory', phase: 'plan', ...why });
  }
  return { bundle, plan, output, maxBytes };
}
