import { type KernelLine, kernelLines } from '../../formats/kernel-log/kernel-lines.ts';
import { type KernelTrace, parseTraces } from '../../formats/kernel-log/traces.ts';
import type { LogContext } from '../../formats/logs/timestamp.ts';
import { cite } from '../citation.ts';
import type { KernelEvent, KernelFacts, KernelKind, PodThreads, TargetFacts } from '../facts.ts';
import type { Entries } from './entries.ts';

const KERNEL_LOG = 'logs/kernel.log';

/** mm/oom_kill.c, block/blk-core.c, drivers/{nvme,scsi,ata,block}, super.c of the filesystems, net/core/dev.c, kernel/cgroup/pids.c. */
const KINDS: readonly (readonly [RegExp, KernelKind])[] = [
  [/^oom-kill:|^Out of memory: |^Memory cgroup out of memory: /, 'oom-kill'],
  [/unregister_netdevice: waiting for /, 'unregister-netdevice'],
  [
    /^(?:blk_update_request|print_req_error): .*(?:I\/O|critical \w+) error|^(?:I\/O|critical \w+) error, dev |^Buffer I\/O error|lost (?:async|sync) page write/,
    'io-error',
  ],
  [
    /^nvme\S* .*(?:timeout|controller is down|Abort status|resetting controller|Disabling device)|^ata\d.*(?:timeout|hard resetting|SRST failed|frozen)|timing out command|task abort|ABORT_TASK|virtio(?:(?!virtio).){0,200}(?:timeout|reset)|^(?:sd|scsi)\b.*(?:timed out|timeout|offline)|blk-mq(?:(?!blk-mq).){0,200}timeout/i,
    'controller-timeout',
  ],
  [/^(?:EXT4-fs|XFS|BTRFS|JBD2)\b.*(?:error|abort|shut ?down|Shutting down|corrupt|read-only)/i, 'filesystem-error'],
  [/^nfs: server .* not responding/, 'nfs-not-responding'],
  [/^cgroup: fork rejected by pids controller/, 'fork-rejected'],
  [/(?:soft|hard) lockup|rcu: INFO: (?:(?!rcu: ).){0,200}detected stalls|rcu_sched self-detected/i, 'soft-lockup'],
];

const MAX_EVENTS = 2000;

/** What the kernel said that bears on a stall. Null when its log was not captured; no events: it said nothing of the kind. */
export function kernelFrom(
  entries: Entries,
  context: LogContext,
  target: TargetFacts,
  threads: PodThreads | null,
): KernelFacts | null {
  const text = entries.text(KERNEL_LOG);
  if (text === null) return null;
  const lines = kernelLines(text, context);
  const pids = new Set(threads?.all.flatMap(({ pid, tid }) => [pid, tid]));
  const of = (words: string, pid: number | null) => ownerOf(words, pid, target, pids);
  const traces = parseTraces(lines).filter(({ hung }) => hung !== null);
  const rest = lines.flatMap(line => {
    const kind = KINDS.find(([form]) => form.test(line.text))?.[1];
    return kind === undefined ? [] : [eventOf(line, kind, of)];
  });
  const events = [...traces.map(trace => hungEvent(trace, lines, of)), ...rest];
  return {
    events: events.toSorted((a, b) => (a.cite.line ?? 0) - (b.cite.line ?? 0)).slice(-MAX_EVENTS),
    from: lines[0]?.time ?? null,
    to: lines.at(-1)?.time ?? null,
  };
}

type Owner = Pick<KernelEvent, 'container' | 'ofPod'>;

/** By container or pod in a cgroup's path, or by a pid of the pod: pids of long ago may be of others, so comm and path come first. */
function ownerOf(words: string, pid: number | null, { ids, podUid }: TargetFacts, pids: ReadonlySet<number>): Owner {
  const container = [...ids].find(id => words.includes(id)) ?? null;
  const ofUid = podUid !== null && (words.includes(podUid) || words.includes(podUid.replaceAll('-', '_')));
  return { container, ofPod: container !== null || ofUid || (pid !== null && pids.has(pid)) };
}

type OwnerOf = (words: string, pid: number | null) => Owner;

function hungEvent(trace: KernelTrace, lines: readonly KernelLine[], ownerFor: OwnerOf): KernelEvent {
  const { task, hung, time, line } = trace;
  const text = lines.find(candidate => candidate.line === line)?.text ?? '';
  return {
    ...{ kind: 'hung-task', time, text, comm: task.comm, pid: task.pid, device: null, ...ownerFor('', task.pid) },
    ...{ hungForMs: hung === null ? null : hung.seconds * 1000, trace, cite: cite(KERNEL_LOG, line, text) },
  };
}

function eventOf({ text, time, line }: KernelLine, kind: KernelKind, ownerFor: OwnerOf): KernelEvent {
  const { comm, pid } = taskIn(text);
  const device = DEVICE.exec(text)?.slice(1).find(Boolean) ?? null;
  return {
    ...{ kind, time, text: text.slice(0, 300), comm, pid, device, ...ownerFor(text, pid) },
    ...{ hungForMs: null, trace: null, cite: cite(KERNEL_LOG, line, text) },
  };
}

/** `dev loop0`, `nvme0n1: I/O tag …`, `EXT4-fs (loop0): …`, `EXT4-fs warning (device loop0): …`. */
const DEVICE = /\bdev(?:ice)? ([\w-]+)|^(?:nvme )?(nvme\d+(?:n\d+)?)\b|\(([\w-]+)\): /;

/** `Killed process 4711 (java) …`, `oom-kill:…,task=java,pid=4711,uid=0`. */
function taskIn(text: string): { readonly comm: string | null; readonly pid: number | null } {
  const [, killed, name] = /Killed process (\d+) \(([^)]{0,64})\)/.exec(text) ?? [];
  const [, task, number] = /\btask=([^,]{1,64}),pid=(\d+)/.exec(text) ?? [];
  const pid = killed ?? number;
  return { comm: name ?? task ?? null, pid: pid === undefined ? null : Number(pid) };
}
