import { type KernelFrame, parseFrame } from '../proc/stack.ts';
import { type HungTask, type LockWait, parseHungTask, parseLockWait } from './hung-task.ts';
import type { KernelLine } from './kernel-lines.ts';
import { type KernelTask, parseTaskHeading } from './task-heading.ts';

/** What the kernel printed of one task: by the hung task detector, or by sysrq-w and sysrq-t. */
export interface KernelTrace {
  readonly task: KernelTask;
  /** The detector's verdict on it; null for a trace that was asked for, and for the owner of a lock. */
  readonly hung: HungTask | null;
  /** The lock that it waits for, where the kernel knows. */
  readonly waitsFor: LockWait | null;
  /** Innermost first; guesses of the unwinder (`? symbol`) are left out. */
  readonly frames: readonly KernelFrame[];
  readonly time: number | null;
  readonly monotonic: number | null;
  /** Lines of the log from the first to the last that belongs to it, from 1. */
  readonly line: number;
  readonly lastLine: number;
}

interface Draft {
  readonly task: KernelTask;
  readonly hung: HungTask | null;
  waitsFor: LockWait | null;
  readonly frames: KernelFrame[];
  readonly start: KernelLine;
  lastLine: number;
}

/** Lines between a heading and its `Call Trace:`, such as `Workqueue: events …`. */
const MAX_PREAMBLE = 4;

/** Registers at the end of a trace, and what else stands among the frames. */
const NO_FRAME = /^(?:\?|<\/?[A-Z#]|R[A-Z0-9]{1,3}:|[CDEFGS][SX0-9]{1,2}:|Code:|ORIG_RAX|E[A-Z]{2}:)/;

/** How far one printer has come. Kernels that name the caller of each line have several at once, others one for all lines. */
interface Printer {
  /** Announced, its heading still to come. */
  hung: { readonly task: HungTask; readonly line: KernelLine } | null;
  draft: Draft | null;
  place: 'heading' | 'frames' | 'marked frames';
  preamble: number;
}

/** What a line of a trace below its heading adds. */
function addLine(printer: Printer, draft: Draft, line: KernelLine): void {
  const text = line.text.trim();
  if (printer.place === 'heading') {
    if (/^Call [Tt]race:/.test(text)) printer.place = 'frames';
    else if (++printer.preamble > MAX_PREAMBLE) printer.draft = null;
    return;
  }
  if (text === '<TASK>') printer.place = 'marked frames';
  const frame = NO_FRAME.test(text) ? null : parseFrame(text);
  if (frame !== null && frame.symbol === null) {
    // Somebody else's message: skipped where a mark will end the trace, its end where none will.
    if (printer.place === 'frames') printer.draft = null;
    return;
  }
  if (frame !== null) draft.frames.push(frame);
  draft.lastLine = line.line;
  if (text === '</TASK>') printer.draft = null;
}

/**
 * Every trace in a kernel log, in its order, in all layouts: with `<TASK>` marks and without, with addresses, build ids, callers.
 * Messages of others that came in between are skipped where the kernel marks the end or the caller.
 */
export function parseTraces(lines: readonly KernelLine[]): readonly KernelTrace[] {
  const drafts: Draft[] = [];
  const latest = new Map<number, Draft>();
  const printers = new Map<string | null, Printer>();
  for (const line of lines) {
    let printer = printers.get(line.caller);
    if (printer === undefined) {
      printer = { hung: null, draft: null, place: 'heading', preamble: 0 };
      printers.set(line.caller, printer);
    }
    const hung = parseHungTask(line.text);
    const wait = parseLockWait(line.text);
    const task = parseTaskHeading(line.text);
    if (hung !== null) {
      printer.hung = { task: hung, line };
      printer.draft = null;
    } else if (wait !== null) {
      const waiter = latest.get(wait.waiter.pid);
      if (waiter !== undefined) waiter.waitsFor = wait;
      printer.draft = null;
    } else if (task !== null) {
      const own = printer.hung?.task.pid === task.pid ? printer.hung : null;
      const start = own?.line ?? line;
      const draft: Draft = { task, hung: own?.task ?? null, waitsFor: null, frames: [], start, lastLine: line.line };
      drafts.push(draft);
      latest.set(task.pid, draft);
      printer.hung = null;
      printer.draft = draft;
      printer.place = 'heading';
      printer.preamble = 0;
    } else if (printer.draft !== null) {
      addLine(printer, printer.draft, line);
    }
  }
  return drafts.map(({ start, ...rest }) => ({
    ...rest,
    time: start.time,
    monotonic: start.monotonic,
    line: start.line,
  }));
}
