import { gaps } from '../bundle/gaps.ts';
import type { Item, NotGot } from '../bundle/manifest.ts';
import type { SignalRecord } from '../bundle/signal-record.ts';
import { formatDuration } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';
import type { Target } from '../sandbox/types.ts';
import { type BlockedThread, blockedElsewhere, blockedThreads } from './blocked.ts';
import type { Report } from './report.ts';

/** What a summary is made from: a capture that has just ended, or a bundle that was read. */
export interface Captured {
  readonly target: Target;
  readonly content: { readonly items: readonly Item[]; readonly notGot: readonly NotGot[] };
  readonly signals: readonly SignalRecord[];
  /** Texts of thread dumps by path: shim/threads-1.txt, containers/<id>/threads-1.txt, node/blocked.txt. */
  readonly threadDumps: ReadonlyMap<string, string>;
  /** os.arch() or uname -m of the node: names the system calls. */
  readonly architecture: string;
  /** What the stall is; null when it was not judged. */
  readonly report: Pick<Report, 'headline' | 'outcome' | 'chain'> | null;
}

const SHOWN_THREADS = 2;
const SHOWN_GAPS = 2;
const MAX_LINE = 120;

/** Who was captured, what is blocked, in what and for how long, and what is missing: at most 10 lines, safe for a terminal. */
export function summaryLines(captured: Captured): readonly string[] {
  const { target, threadDumps, architecture } = captured;
  const elsewhere = blockedElsewhere(threadDumps, architecture);
  const named = captured.report?.outcome === 'stall';
  return [
    `Captured: ${who(target)}`,
    ...verdictLines(captured.report),
    ...(target.kind === 'sandbox'
      ? [...blockedLines(blockedThreads(threadDumps, architecture), 'of this pod'), ...besides(named ? [] : elsewhere)]
      : blockedLines(elsewhere, 'of the node')),
    ...dumpLine(captured.signals),
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
  // docker's name, where there is no pod.
  const alone = containers.find(container => container.id === id)?.name ?? namespace;
  const name = pod === null ? alone : `${pod.namespace}/${pod.name}`;
  const pids = shims.map(({ pid }) => pid).join(', ');
  const shim = shims.length === 1 ? `shim ${pids}` : `shims ${pids}`;
  const count = containers.filter(({ kind }) => kind === 'container').length;
  return `${name}, sandbox ${id.slice(0, 12)}, ${shim}, ${count} container${count === 1 ? '' : 's'}`;
}

/** What it waits for in the end, and the wait chain where it has more than that one step. */
function verdictLines(report: Captured['report']): readonly string[] {
  if (report === null) return [];
  const { headline, chain } = report;
  return [`Verdict: ${headline}`, ...(chain === null || chain.steps.length < 2 ? [] : [`Why: ${chain.sentence}`])];
}

function blockedLines(blocked: readonly BlockedThread[], whose: string): readonly string[] {
  if (blocked.length === 0) return [`Blocked: no thread ${whose} was seen blocked`];
  const more = blocked.length > SHOWN_THREADS ? ', longest first' : '';
  const threads = blocked.length === 1 ? 'thread' : 'threads';
  return [
    `Blocked: ${blocked.length} ${threads} ${whose}${more}`,
    ...blocked.slice(0, SHOWN_THREADS).map(thread => `  ${blockedWords(thread)}`),
  ];
}

/** A pod can wait for a containerd that hangs: then nothing of its own is blocked. */
function besides([first, ...others]: readonly BlockedThread[]): readonly string[] {
  if (first === undefined) return [];
  return [`Besides: ${blockedWords(first)}${others.length > 0 ? `; and ${others.length} more of the node in D` : ''}`];
}

/** `Goroutine dump of shim 2623: complete`; a pod of docker has several shims. */
function dumpLine(signals: readonly SignalRecord[]): readonly string[] {
  const [first, ...others] = signals;
  if (first === undefined) return [];
  const whose = ({ to, pid }: SignalRecord) => `${to ?? 'shim'} ${pid}`;
  if (others.length === 0) return [`Goroutine dump of ${whose(first)}: ${first.dump}`];
  return [cut(`Goroutine dumps: ${signals.map(signal => `${whose(signal)} ${signal.dump}`).join(', ')}`)];
}

/** `containerd-shim 2631 (shim) in umount2, wb_wait_for_completion, state D, for 14 min 3 s, the same stack in 4 of 4 looks` */
function blockedWords(thread: BlockedThread): string {
  const age = thread.blockedForMs === null ? '' : `, for ${formatDuration(thread.blockedForMs)}`;
  const place = `in ${waitOf(thread)}, state ${thread.state}`;
  if (thread.where === 'node') return `${thread.comm} ${thread.tid} ${place}${age}`;
  const where = thread.where.replace(/^containers\/(.{12}).*/, 'container $1');
  return `${thread.comm} ${thread.tid} (${where}) ${place}${age}, the same stack in ${thread.seen} of ${thread.looks} looks`;
}

/** A thread of the kernel is in no call; a kernel without symbols shows no wait channel. */
function waitOf({ syscall, wchan }: BlockedThread): string {
  return [syscall, wchan].filter(part => part !== null).join(', ') || 'an unknown place';
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
  const pieces = missing.length === 1 ? 'piece' : 'pieces';
  return [`Missing: ${missing.length} ${pieces}${rest > 0 ? '; all of them stand in manifest.json' : ''}`, ...shown];
}
