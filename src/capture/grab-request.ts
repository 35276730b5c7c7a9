import type { Operator, Tool } from '../bundle/manifest.ts';
import type { SignalRecord } from '../bundle/signal-record.ts';
import type { Transform } from '../bundle/transform.ts';
import type { BundleContent, Closed } from '../bundle/writer.ts';
import type { Collector, GrabOptions } from '../collectors/collector.ts';
import type { ViewsDocument } from '../formats/views/document.ts';
import type { Interruption } from '../host/interruption.ts';
import type { Output, Place } from '../host/output.ts';
import type { FirstLook, Host } from '../host/port.ts';
import type { Report } from '../report/report.ts';
import type { Inventory, Target } from '../sandbox/types.ts';
import type { Progress } from './progress.ts';

/** What is to be grabbed, and how. */
export interface GrabRequest {
  readonly target: Target;
  readonly inventory: Inventory;
  readonly options: GrabOptions;
  readonly argv: readonly string[];
  readonly collectors: readonly Collector[];
  /** Resolves to where the bundle may go, best first, and how large it may become there. Not waited for before the first evidence is taken. */
  readonly places: (fileName: string) => Promise<{ readonly places: readonly Place[]; readonly maxBytes: number }>;
  readonly openOutput: (places: readonly Place[]) => Output;
  readonly transform: Transform;
  readonly redact: boolean;
  readonly operator: Operator;
  readonly tool: Tool;
  /** SUMMARY.md, from what was captured. */
  readonly summary: (seen: Seen) => string;
}

/** What a summary is made from. */
export interface Seen {
  readonly target: Target;
  readonly content: BundleContent;
  readonly signals: readonly SignalRecord[];
  /** Texts of thread dumps by path: shim/threads-1.txt, containers/<id>/threads-1.txt, node/blocked.txt. */
  readonly threadDumps: ReadonlyMap<string, string>;
  /** What the stall is; null when it could not be judged. */
  readonly report: Report | null;
  /** runtime/views.json; null where that was not made. */
  readonly views: ViewsDocument | null;
}

export interface Grabbed extends Closed {
  readonly seen: Seen;
}

/** What a run works on and answers to. */
export interface Machine {
  readonly host: Host;
  readonly firstLook: FirstLook;
  readonly progress: Progress;
  readonly interruption: Interruption;
}
