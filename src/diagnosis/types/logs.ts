import type { KernelTrace } from '../../formats/kernel-log/traces.ts';
import type { LogLevel } from '../../formats/logs/log-line.ts';
import type { Citation } from '../citation.ts';

/** Which log a line is from. Lines of shims, runc and CNI plugins stand in containerd's. */
export type LogSource = 'containerd' | 'kubelet' | 'docker' | 'kernel';

/** Messages that mean something (containerd.md, section 5). `other`: an error, warning or any line about an id of the target. */
export type LogKind =
  /** `get state for <id>`: State > 2 s, up to containerd 2.2. */
  | 'state-timeout'
  | 'unknown-status'
  /** `failed to delete task`, or an error with that text. */
  | 'delete-failed'
  /** `failed to handle container|sandbox TaskExit event`. */
  | 'exit-handling-failed'
  /** `Failed to handle backOff event`. */
  | 'backoff-failed'
  /** `Events for … is in backoff, enqueue event`. */
  | 'backoff-enqueued'
  /** `TaskExit event …`: a retry (up to 1.4 also the first). */
  | 'exit-retried'
  /** `received … exit event`. */
  | 'exit-received'
  | 'late-cleanup'
  | 'exit-status-failed'
  | 'dead-shim-cleanup'
  | 'shim-disconnected'
  | 'shim-cleanup-failed'
  | 'shim-shutdown-failed'
  | 'bundle-delete-failed'
  /** `failed to cleanup rootfs mount`, `failed to unmount target`: with `device or resource busy` or not, see `error`. */
  | 'unmount-failed'
  | 'drain-failed'
  /** `forward event`, `evicting … from queue because of retry count`, `post event`. */
  | 'event-forward-failed'
  | 'event-evicted'
  | 'inactive-stream'
  | 'ttrpc-closed'
  | 'metrics-failed'
  | 'log-fifo-lost'
  | 'load-failed'
  | 'stop-requested'
  | 'kill-sent'
  | 'kill-wait-failed'
  | 'not-running'
  | 'name-reserved'
  | 'boltdb-waiting'
  | 'create-failed'
  | 'start-failed'
  | 'create-requested'
  | 'start-requested'
  | 'sandbox-run-requested'
  | 'start-returned'
  | 'deadline-exceeded'
  | 'pleg-unhealthy'
  | 'cni-failed'
  | 'daemon-started'
  | 'daemon-stopping'
  | 'cgroup-busy'
  | 'no-space'
  | 'cannot-fork'
  | 'too-many-open-files'
  | 'dbus-failed'
  | 'health-check-failed'
  | 'other';

export interface LogEvent {
  readonly source: LogSource;
  readonly kind: LogKind;
  /** ms since 1970, all logs on one clock; null where it cannot be told. */
  readonly time: number | null;
  readonly level: LogLevel | null;
  /** Target's container or sandbox that it is about; null for none or another pod's. */
  readonly container: string | null;
  /** Ids of 64 digits in it, other pods' too. */
  readonly ids: readonly string[];
  /** At most 300 characters. */
  readonly message: string;
  /** Of the fields `error`, `err`: at most 300 characters. */
  readonly error: string | null;
  /** `exited_at` / `ExitedAt` of an exit event, ms since 1970; null for none, and for the zero time. */
  readonly exitedAt: number | null;
  readonly cite: Citation;
}

export interface LogCount {
  /** Lines of the kind, whole node. */
  readonly count: number;
  /** Ids in them. */
  readonly containers: number;
  readonly first: number | null;
  readonly last: number | null;
  /** Up to five. */
  readonly examples: readonly LogEvent[];
}

export interface LogFacts {
  readonly sources: readonly {
    readonly source: LogSource;
    readonly entry: string;
    readonly lines: number;
    /** Time of its first and last line. */
    readonly from: number | null;
    readonly to: number | null;
    /** Whether the log reaches back to where it was asked for; false when its older part was cut off. */
    readonly whole: boolean;
  }[];
  /** About the target, in order of time, at most some thousand; and lines of known kinds that name no id. */
  readonly events: readonly LogEvent[];
  readonly counts: ReadonlyMap<LogKind, LogCount>;
  /** `get state for` timeouts over the node: by container id, with the rate per minute over the time they span. */
  readonly stateTimeouts: {
    readonly total: number;
    readonly byContainer: ReadonlyMap<string, number>;
    readonly perMinute: number | null;
  };
}

export type KernelKind =
  | 'hung-task'
  | 'oom-kill'
  | 'io-error'
  /** nvme, virtio, scsi, ata: a request that the controller did not answer, a reset. */
  | 'controller-timeout'
  | 'filesystem-error'
  | 'unregister-netdevice'
  | 'nfs-not-responding'
  | 'fork-rejected'
  | 'soft-lockup'
  | 'other';

export interface KernelEvent {
  readonly kind: KernelKind;
  readonly time: number | null;
  readonly text: string;
  /** Task that it names. */
  readonly comm: string | null;
  readonly pid: number | null;
  /** Device that it names: `nvme0n1`. */
  readonly device: string | null;
  /** Container or pod of the target that it names (by cgroup path or pid); null otherwise. */
  readonly container: string | null;
  readonly ofPod: boolean;
  /** Of hung-task: how long at least, and the trace. */
  readonly hungForMs: number | null;
  readonly trace: KernelTrace | null;
  readonly cite: Citation;
}

export interface KernelFacts {
  readonly events: readonly KernelEvent[];
  readonly from: number | null;
  readonly to: number | null;
}

/** A client of a runtime that was asked (runtime/*-commands.jsonl). */
export interface CommandFact {
  /** `crictl`, `ctr`, `docker`, `ps`. */
  readonly tool: string;
  /** `ps`, `inspectp`, `inspect-4f5e6d7c8b9a`. */
  readonly what: string;
  readonly argv: readonly string[];
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** ms since 1970. */
  readonly at: number | null;
  readonly stderr: string;
  readonly cite: Citation;
}
