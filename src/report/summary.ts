import { gaps } from '../bundle/gaps.ts';
import type { Item, NotGot } from '../bundle/manifest.ts';
import type { SignalRecord } from '../bundle/signal-record.ts';
import { formatDuration } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';
import type { Target } from '../sandbox/types.ts';
import { type BlockedThread, blockedThreads } from './blocked.ts';

/** What a summary is made from: a capture that has just ended, or a bundle that was read. */
export interface Captured {
  readonly target: Target;
  readonly content: { readonly items: readonly Item[]; readonly notGot: readonly NotGot[] };
  readonly signals: readonly SignalRecord[];
  /** Texts of thread dumps by path: shim/threads-1.txt, containers/<id>/threads-1.txt. */
  readonly threadDumps: ReadonlyMap<string, string>;
  /** os.arch() or uname -m of the node: names the system calls. */
  readonly architecture: string;
}

const SHOWN_THREADS = 4;
const SHOWN_GAPS = 3;
const MAX_LINE = 120;

/** Who was captured, what is blocked, in what and for how long, and what is missing: at most 12 lines, safe for a terminal. */
export function summaryLines(captured: Captured): readonly string[] {
  const { target, threadDumps, architecture } = captured;
  const blocked = target.kind === 'sandbox' ? blockedThreads(threadDumps, architecture) : [];
  return [
    `Captured: ${who(target)}`,
    ...(target.kind === 'sandbox' ? blockedLines(blocked) : []),
    ...captured.signals.map(({ pid, dump }) => `Goroutine dump of shim ${pid}: ${dump}`).slice(0, 2),
    ...missingLines(captured.content),
  ].map(printable);
}

/** SUMMARY.md: the same, for whoever opens the bundle first. */
export function summaryMarkdown(captured: Captured, capturedAt: string, hostname: string): string {
  const [first = '', ...rest] = summaryLines(captured).map(line => line.replace(/[\\`*_<>[\]]/g, '\\$&'));
  const heading = `# ${first.replace(/^Captured: /, '')}`;
  const origin = `Captured on ${printable(hostname)} at ${capturedAt}.`;
  return [heading, '', origin, '', ...rest.map(line => line.replace(/^( *)/, '$1- ')), ''].join('\n');
}

/** `shop/web-0, sandbox 4f5e6d7c8b9a, shim 2623, 3 containers` */
export function who(target: Target): string {
  if (target.kind === 'node') return 'the node alone';
  if (target.kind === 'remnant') return `${target.asked}, which has no shim here (${target.remnant.what})`;
  const { pod, id, shims, containers, namespace } = target.sandbox;
  const name = pod === null ? `${namespace}` : `${pod.namespace}/${pod.name}`;
  const pids = shims.map(({ pid }) => pid).join(', ');
  const shim = shims.length === 1 ? `shim ${pids}` : `shims ${pids}`;
  const count = containers.filter(({ kind }) => kind === 'container').length;
  return `${name}, sandbox ${id.slice(0, 12)}, ${shim}, ${count} container${count === 1 ? '' : 's'}`;
}

function blockedLines(blocked: readonly BlockedThread[]): readonly string[] {
  if (blocked.length === 0) return ['Blocked: no thread of this pod was seen blocked'];
  const shown = blocked.slice(0, SHOWN_THREADS).map(thread => `  ${blockedWords(thread)}`);
  const rest = blocked.length - shown.length;
  return [`Blocked: ${blocked.length} of the pod's threads`, ...shown, ...(rest > 0 ? [`  and ${rest} more`] : [])];
}

/** `containerd-shim 2631 (shim) in umount2, wb_wait_for_completion, state D, for 14 min 3 s, the same stack in 4 of 4 looks` */
export function blockedWords(thread: BlockedThread): string {
  const call = thread.syscall ?? 'an unknown call';
  const age = thread.blockedForMs === null ? '' : `, for ${formatDuration(thread.blockedForMs)}`;
  const place = `in ${call}, ${thread.wchan ?? 'wait channel unknown'}, state ${thread.state}`;
  const where = thread.where.replace(/^containers\/(.{12}).*/, 'container $1');
  return `${thread.comm} ${thread.tid} (${where}) ${place}${age}, the same stack in ${thread.seen} of ${thread.looks} looks`;
}

/** A gap's reason can be a daemon's whole error text; the manifest has it. */
function cut(line: string): string {
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}

function missingLines(content: Captured['content']): readonly string[] {
  const missing = gaps(content);
  if (missing.length === 0) return ['Missing: nothing'];
  const shown = missing.slice(0, SHOWN_GAPS).map(({ what, outcome, detail }) => {
    return cut(`  ${what}: ${outcome}${detail === null ? '' : ` (${detail.split('\n')[0]})`}`);
  });
  const rest = missing.length - shown.length;
  return [
    `Missing: ${missing.length} pieces`,
    ...shown,
    ...(rest > 0 ? [`  and ${rest} more, see manifest.json`] : []),
  ];
}
