/**
 * What a bundle says, typed: all that rules may use. Made by read-facts.ts from a bundle alone, never from the machine.
 *
 * A key is null when nothing of it was captured. A rule names the keys it `needs`, and is not applicable without them.
 * An empty list was captured, and there was nothing: that is an answer. Types are in types/, one file per subject.
 */
import type { AttachedText } from './types/attached.ts';
import type {
  CaptureFacts,
  DaemonFacts,
  HolderFacts,
  SignalFact,
  StuckProbeFact,
  TargetFacts,
} from './types/capture.ts';
import type { CgroupFacts, ContainerFacts, ShimFacts } from './types/containers.ts';
import type { DeviceFacts, DirtyFacts, FuseConnection, MountFacts, PressureFacts, WriterFacts } from './types/disks.ts';
import type { DaemonGoroutines, ShimGoroutines } from './types/goroutines.ts';
import type { CommandFact, KernelFacts, LogFacts } from './types/logs.ts';
import type { NodeThreads, PodThreads, ProcessTable } from './types/threads.ts';

export interface Facts {
  /** plan.json, manifest.json: always there, a bundle cut before plan.json is none. */
  readonly capture: CaptureFacts;
  readonly target: TargetFacts;

  /** <shim>/{threads,children}-*.txt, containers/<id>/threads-*.txt, node/blocked.txt: the pod's own tree over all looks. */
  readonly threads: PodThreads | null;
  /** node/blocked.txt: every thread of the node in D. */
  readonly nodeThreads: NodeThreads | null;
  /** node/processes.txt */
  readonly processes: ProcessTable | null;

  /** <shim>/goroutines.txt: dumps that were got, whole or not. */
  readonly goroutines: readonly ShimGoroutines[] | null;
  /** daemons/*: containerd's and dockerd's dumps. */
  readonly daemonGoroutines: readonly DaemonGoroutines[] | null;

  /** The target's containers, its sandbox first. Null for a node, and for a pod without a shim of which nothing is left. */
  readonly containers: readonly ContainerFacts[] | null;
  readonly shims: readonly ShimFacts[] | null;
  /** From the process table. */
  readonly daemons: readonly DaemonFacts[] | null;

  /** node/samples.jsonl, node/diskstats */
  readonly devices: DeviceFacts | null;
  readonly pressure: PressureFacts | null;
  /** Dirty and Writeback of meminfo over the samples. */
  readonly dirty: DirtyFacts | null;
  /** Who writes: cgroup I/O and dirty pages over the samples. */
  readonly writers: WriterFacts | null;
  /** node/mountinfo, <shim>/mountinfo, node/disks.txt */
  readonly mounts: MountFacts | null;
  /** node/fuse.txt */
  readonly fuse: readonly FuseConnection[] | null;
  /** node/cgroups.txt, node/cgroups of /proc */
  readonly cgroups: CgroupFacts | null;

  /** logs/{containerd,kubelet,docker}*.log, reduced. */
  readonly logs: LogFacts | null;
  /** logs/kernel.log */
  readonly kernel: KernelFacts | null;
  /** runtime/*-commands.jsonl */
  readonly commands: readonly CommandFact[] | null;

  /** Of the manifest: null for a bundle that was cut before it. */
  readonly stuckProbes: readonly StuckProbeFact[] | null;
  readonly signals: readonly SignalFact[] | null;
  /** attached/*: what kubectl says of the pod, as it is: only a timeline wants to know. Null when nothing was attached. */
  readonly attached: readonly AttachedText[] | null;

  /** Who holds pipes and mounts open. */
  readonly holders: HolderFacts | null;
}

export type FactName = keyof Facts;

export type * from './types/attached.ts';
export type * from './types/capture.ts';
export type * from './types/containers.ts';
export type * from './types/disks.ts';
export type * from './types/goroutines.ts';
export type * from './types/logs.ts';
export type * from './types/threads.ts';
