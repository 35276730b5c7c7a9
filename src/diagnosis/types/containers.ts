import type { CriStatus } from '../../formats/runtime/cri-status.ts';
import type { DockerContainer } from '../../formats/runtime/docker-container.ts';
import type { RuncState } from '../../formats/runtime/runc-state.ts';
import type { Citation } from '../citation.ts';

/** Looked for and read; looked for and not there; or not looked for, or not answered (null). */
export type Seen<T> = T | 'absent' | null;

/** What a source believes of a container. */
export type Belief = 'created' | 'running' | 'paused' | 'exited' | 'absent' | 'unknown';

export interface View {
  /** `/proc`, `runc`, `shim`, `CRI status file`, `crictl`, `ctr`, `docker`, `config.v2.json`. */
  readonly source: string;
  readonly says: Belief;
  /** The source's own word: `SANDBOX_NOTREADY`, `STOPPED`, `Z`. */
  readonly word: string;
  /** When it was asked, ms since 1970. */
  readonly at: number | null;
  /** How long it took to say; null for a file. */
  readonly tookMs: number | null;
  readonly cite: Citation;
}

/** Times of a file, ms since 1970. */
export interface FileTimes {
  readonly mtime: number;
  readonly ctime: number;
  readonly size: number;
  readonly cite: Citation;
}

export interface CriStatusFact extends CriStatus {
  /** ms since 1970; null when it has not happened. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly file: FileTimes | null;
  /** Names like `.tmp-status12345` beside it: a write that waits for the disk. */
  readonly temporary: readonly string[];
  readonly cite: Citation;
}

export interface DockerFact extends DockerContainer {
  readonly file: FileTimes | null;
  readonly cite: Citation;
}

/** The shim's own answer to State (runtime/views.json). */
export interface ShimAnswer {
  /** `timeout`: it was asked and did not answer in `tookMs`. */
  readonly status: 'UNKNOWN' | 'CREATED' | 'RUNNING' | 'STOPPED' | 'PAUSED' | 'PAUSING' | 'timeout' | 'error';
  readonly pid: number | null;
  readonly exitStatus: number | null;
  readonly exitedAt: number | null;
  readonly tookMs: number;
  readonly cite: Citation;
}

/** The cgroup of a container: limits, states and counters of containers/<id>/cgroup.txt and the samples. */
export interface ContainerCgroup {
  readonly path: string;
  readonly version: 1 | 2;
  readonly freezer: Freezer | null;
  readonly pids: {
    readonly current: number;
    readonly max: number | null;
    readonly maxEvents: number | null;
    readonly cite: Citation;
  } | null;
  readonly memory: {
    readonly currentBytes: number;
    readonly maxBytes: number | null;
    readonly highBytes: number | null;
    /** memory.events `high`, `max`, `oom_kill`, or v1's failcnt as `max`; growth over the samples. */
    readonly highEventsGrowth: number | null;
    readonly oomKills: number | null;
    readonly cite: Citation;
  } | null;
  readonly cpu: {
    /** cpu.stat throttled time over wall time of the samples, may exceed 1 with several CPUs; null with one sample. */
    readonly throttledShare: number | null;
    readonly throttledPeriodsGrowth: number | null;
    readonly cite: Citation;
  } | null;
  /** io.max, blkio.throttle.*: the limits that are set, as they stand. */
  readonly ioLimits: readonly Citation[];
}

export interface Freezer {
  /** v1 freezer.state; v2 from cgroup.freeze and cgroup.events `frozen`. */
  readonly state: 'THAWED' | 'FREEZING' | 'FROZEN';
  /** Frozen by itself, and not only by a parent; null where it does not say. */
  readonly self: boolean | null;
  readonly cite: Citation;
}

/** One container of the target, its sandbox included. */
export interface ContainerFacts {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
  readonly name: string | null;
  readonly shimPid: number | null;
  readonly initPid: number | null;
  /** `alive`: the same process (start time) in any look. `zombie`: alive, in Z. `reused`: the pid is somebody else's. Null: not looked. */
  readonly init: 'alive' | 'zombie' | 'gone' | 'reused' | null;
  readonly initCite: Citation | null;
  /** From the last look that saw its process to the reading of CRI's status, ms at most; below 0: seen after that. Null: not both. */
  readonly seenBeforeStatusMs: number | null;
  /** Bundle directory. */
  readonly bundle: Seen<{ readonly files: readonly string[]; readonly cite: Citation }>;
  /** runc's record; absent with the bundle there: `runc delete` is through. */
  readonly runc: Seen<RuncState & { readonly file: FileTimes | null; readonly cite: Citation }>;
  /** exec.fifo is there: created, not started. */
  readonly execFifo: boolean | null;
  /** Of docker's containers and of sandboxes always null. */
  readonly criStatus: Seen<CriStatusFact>;
  readonly docker: Seen<DockerFact>;
  readonly shimAnswer: ShimAnswer | null;
  /** Error lines of log.json (runc --log). */
  readonly runcErrors: readonly Citation[];
  readonly cgroup: Seen<ContainerCgroup>;
  /** Every source that said something, /proc first. */
  readonly views: readonly View[];
}

/** A thread of a shim at the first look, before anything was disturbed: a signal and a read of its log fifo both make it run. */
export interface FirstLook {
  readonly tid: number;
  readonly state: string;
  readonly wchan: string | null;
  /** Name of its system call. */
  readonly call: string | null;
  /** By the scheduler's clock: how long it had not run. */
  readonly blockedForMs: number | null;
  readonly cite: Citation;
}

/** A shim of the target. */
export interface ShimFacts {
  readonly pid: number;
  readonly folder: string;
  readonly generation: 'v1' | 'v2';
  readonly bundleDeleted: boolean;
  /** Null when it was not looked at. */
  readonly alive: boolean | null;
  readonly ageMs: number | null;
  /** All below it, from children.txt: null when not captured. */
  readonly children:
    | readonly {
        readonly pid: number;
        readonly ppid: number;
        readonly state: string;
        readonly comm: string;
        readonly cite: Citation;
      }[]
    | null;
  /** fd -> target of fd.txt: `pipe:[81273]`. */
  readonly descriptors: ReadonlyMap<number, string> | null;
  /** Answer to Connect (runtime/views.json): null when not asked. */
  readonly connect: { readonly answered: boolean; readonly tookMs: number; readonly cite: Citation } | null;
  /** State letter of its leader: T is stopped. */
  readonly state: string | null;
  /** All its threads in threads-1.txt; null without that. */
  readonly firstLook: readonly FirstLook[] | null;
  readonly cite: Citation;
}

/** Limits and states of other cgroups of the node. */
export interface CgroupFacts {
  /** Path of each cgroup of node/cgroups.txt that is frozen, at its pids limit, or the pod's own. */
  readonly notable: readonly {
    readonly path: string;
    readonly freezer: Freezer | null;
    readonly pids: ContainerCgroup['pids'];
  }[];
  /** /proc/cgroups: controller -> number of cgroups; memory near 65535 is a leak. Empty where the kernel has none. */
  readonly counts: ReadonlyMap<string, { readonly count: number; readonly cite: Citation }>;
}
