import process from 'node:process';
import { type CaptureOutcome, leavesGap, type Manifest } from '../bundle/manifest.ts';
import type { Plan } from '../bundle/plan.ts';
import type { SignalRecord } from '../bundle/signal-record.ts';
import type { BundleContent } from '../bundle/writer.ts';
import type { Interruption } from '../host/interruption.ts';
import type { Host } from '../host/port.ts';
import { bundleName } from './bundle-name.ts';
import type { GrabRequest } from './grab-request.ts';

/** What a manifest is made from. */
export interface ManifestSources {
  readonly request: Pick<GrabRequest, 'target' | 'argv' | 'redact' | 'options'>;
  readonly host: Host;
  readonly plan: Plan;
  readonly place: string;
  /** What the bundle could become at most: --max-size, or less where it goes to memory. */
  readonly maxBytes: number;
  readonly content: BundleContent;
  readonly signals: readonly SignalRecord[];
  readonly interruption: Interruption;
  readonly fault: string | null;
}

/** manifest.json, the last entry: from what is known when it is written. */
export function manifestOf(sources: ManifestSources): Manifest {
  const { request, host, plan, content, signals, interruption } = sources;
  const now = host.now();
  const { redact, options } = request;
  return {
    format: 1,
    tool: plan.tool,
    capture: {
      ...{ startedAt: host.startedAt, endedAt: now.wall, durationMs: now.offsetMs, argv: request.argv },
      ...captureOutcome(content, interruption, sources.fault),
      ...{ options: { ...options, redact }, note: options.note },
      clocks: { realtime: now.wall, monotonicNs: String(process.hrtime.bigint()), offsetMs: now.offsetMs },
    },
    ...{ operator: plan.operator, host: plan.host, target: request.target },
    ...{ items: content.items, notGot: content.notGot, signals, stuckProbes: host.stuckProbes },
    observer: { ...host.cost(), wallMs: now.offsetMs },
    output: {
      ...{
        folder: bundleName(plan.host.hostname, request.target, host.startedAt),
        place: sources.place,
        maxBytes: sources.maxBytes,
      },
      ...{ packedBytes: content.packedBytes, unpackedBytes: content.unpackedBytes },
    },
  };
}

function captureOutcome(
  content: BundleContent,
  interruption: Interruption,
  fault: string | null,
): { readonly outcome: CaptureOutcome; readonly reason?: string } {
  if (interruption.cause !== null) return { outcome: 'interrupted', reason: interruption.cause };
  if (fault !== null) return { outcome: 'failed', reason: fault };
  const gaps = [...content.items, ...content.notGot].some(({ outcome }) => leavesGap(outcome));
  return { outcome: gaps ? 'incomplete' : 'complete' };
}
