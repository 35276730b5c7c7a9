import type { Manifest, NotGot } from '../../bundle/manifest.ts';
import type { SignalRecord } from '../../bundle/signal-record.ts';
import type { Target } from '../../sandbox/types.ts';
import type { Citation } from '../citation.ts';

/** The capture itself: what every claim about times and versions rests on. */
export interface CaptureFacts {
  /** ms since 1970: offset 0. */
  readonly startedAt: number;
  /** Null for a bundle that was cut before its manifest. */
  readonly durationMs: number | null;
  readonly hostname: string;
  /** `6.18.44`. */
  readonly kernel: string;
  /** os.arch(): x64, arm64. */
  readonly architecture: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly uptimeSeconds: number | null;
  readonly utcOffsetMinutes: number;
  readonly timezone: string;
  readonly cgroupVersion: 1 | 2 | 'hybrid' | null;
  readonly versions: Versions;
  /** What is not in the bundle though it was tried. Empty without a manifest. */
  readonly notGot: readonly NotGot[];
  /** Entry -> outcome and detail, for entries that are not whole. */
  readonly flawed: ReadonlyMap<string, { readonly outcome: string; readonly detail: string | null }>;
  readonly cut: boolean;
}

/** Null where the bundle does not say. */
export interface Versions {
  readonly containerd: string | null;
  readonly runc: string | null;
  readonly docker: string | null;
  readonly kubelet: string | null;
  /** From the module paths of its goroutine dump: 1 or 2 for containerd's major version; nothing finer is in it. */
  readonly shimMajor: 1 | 2 | null;
}

export interface TargetFacts {
  readonly target: Target;
  /** `shop/web-0`, or the id. */
  readonly name: string;
  readonly podUid: string | null;
  readonly sandboxId: string | null;
  /** Every id that logs may call it by: sandbox and containers. */
  readonly ids: ReadonlySet<string>;
  readonly runtime: 'containerd' | 'docker' | null;
}

/** A containerd or dockerd of the node, found in the process table. */
export interface DaemonFacts {
  readonly kind: 'containerd' | 'dockerd' | 'kubelet';
  readonly pid: number;
  readonly stat: string;
  readonly ageMs: number | null;
  /** ms since 1970: capture minus age, to a second. */
  readonly startedAt: number | null;
  readonly args: string;
  /** It is the one of the target: the only one of its kind, or its command line names the shim's address or directory. Null: not known. */
  readonly ofTarget: boolean | null;
  readonly threadsInD: number;
  readonly cite: Citation;
}

/** A read or a command of stallcap itself that hung: evidence, since it says where. */
export type StuckProbeFact = Manifest['stuckProbes'][number] & { readonly cite: Citation };

export interface SignalFact extends SignalRecord {
  readonly cite: Citation;
}

/** A live process that holds something of the pod open. Null where it was not looked for: no container had ended. */
export interface HolderFacts {
  /** Pipe (inode of `pipe:[n]`) -> processes that have its write end open. */
  readonly pipeWriters: ReadonlyMap<number, readonly Holder[]>;
  /** Mount point -> processes with cwd, root, fd or mapping below it, or with the mount in a namespace of their own. */
  readonly mounts: ReadonlyMap<string, readonly Holder[]>;
}

export interface Holder {
  readonly pid: number;
  readonly comm: string;
  /** `fd 1`, `cwd`, `root`, `mount namespace`. */
  readonly how: string;
  readonly ofPod: boolean;
  readonly cite: Citation;
}
