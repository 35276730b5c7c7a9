/**
 * The machine, as the rest of the program sees it. Only src/host touches node:fs, node:child_process,
 * execa or pidusage; everything else gets a Host.
 *
 * Two kinds of access: what cannot hang is read at once, synchronously, in this process (`read`, `list`,
 * `pids`, `look`); all else goes to an expendable probe child with a deadline (`readRisky`, `sweep`, `run`,
 * `drain`, `ask…`). Nothing here throws for a file that cannot be read: the outcome says so.
 *
 * What is asked and answered has its types in port/, one file per subject.
 */
import type { CriQuestion } from '../formats/cri/calls.ts';
import type { CpuClocks } from '../formats/proc/cpu-clocks.ts';
import type { CommandRequest, CommandResult } from './port/commands.ts';
import type { CriCall, HttpCall } from './port/daemons.ts';
import type { FileRequest, FileResult } from './port/files.ts';
import type { Deadline, StuckProbe } from './port/probes.ts';
import type { Drain, ShimCall, ShimQuestion, SignalMark, SignalMarked } from './port/shims.ts';
import type { ProcessLook, SweepRequest, SweepResult } from './port/threads.ts';
import type { ObserverCost, UsageResult } from './port/usage.ts';

/** A moment on both clocks. */
export interface Moment {
  /** ISO 8601 with ms, UTC. */
  readonly wall: string;
  /** Monotonic ms since the start of the process (process.hrtime based; survives a clock that is set back). */
  readonly offsetMs: number;
}

export interface Host {
  now(): Moment;
  /** ISO wall time of the start of the process: offset 0. */
  readonly startedAt: string;
  /** In this process, at once: only what cannot hang (comm, status of any task; node-wide files of /proc that take no lock). */
  read(path: string, maxBytes?: number): FileResult;
  /** Names in a directory of /proc; none of one that cannot be read. */
  list(path: string): readonly string[];
  /** Of all processes, in rising order. */
  pids(): readonly number[];
  /** In this process: all threads of a process that has two or more; else outcome 'gone' or 'error'. */
  look(pid: number): ProcessLook;
  /** Files that may hang, in a probe. @returns a result for each, in their order */
  readRisky(files: readonly FileRequest[], deadline: Deadline): Promise<readonly FileResult[]>;
  /** Like `look`, for any process, in a probe. @returns a look for each, in their order */
  lookRisky(pids: readonly number[], deadline: Deadline): Promise<readonly ProcessLook[]>;
  /**
   * The clocks of these CPUs, at most 64 of them: by a program that is bound to one after another, in a probe. Those that
   * were asked for a few seconds ago are not asked again. A CPU that did not answer, is out of bounds (cpuset), or was set
   * aside for a workload (isolcpus, nohz_full) is missing.
   */
  cpuClocks(cpus: readonly number[], deadline: Deadline): Promise<CpuClocks>;
  sweep(request: SweepRequest, deadline: Deadline): Promise<SweepResult>;
  run(command: CommandRequest): Promise<CommandResult>;
  /** Records of /dev/kmsg until EAGAIN, oldest first, newest `maxBytes` kept, as text lines. */
  kernelLog(maxBytes: number, deadline: Deadline): Promise<FileResult>;
  /** Two readings, `pauseMs` apart, of how much CPU and memory processes use. */
  usage(pids: readonly number[], pauseMs: number, deadline: Deadline): Promise<UsageResult>;
  /**
   * `fd`: the shim's descriptor of its log fifo. 2 (default) since containerd 1.5; another one before, and in v1 shims.
   * `decoy`: an empty line is written first, for another reader that will hang with whatever it reads next.
   */
  drain(shimPid: number, fd?: number, options?: { readonly decoy?: boolean }): Drain;
  /**
   * Asks shims over ttrpc, all at the same time, 2 s for each call and 3 s in all. A call is made once, whatever comes of
   * it. @returns the calls of each question, in the order of the questions
   */
  askShims(questions: readonly ShimQuestion[], deadline: Deadline): Promise<readonly (readonly ShimCall[])[]>;
  markSignal(mark: SignalMark, deadline: Deadline): Promise<SignalMarked>;
  /**
   * Asks the CRI service at a socket (a path) over gRPC, all at the same time, 2 s for each call.
   * @returns a call for each question, in their order
   */
  askCri(socket: string, questions: readonly CriQuestion[], deadline: Deadline): Promise<readonly CriCall[]>;
  /**
   * GETs paths from the HTTP server at a unix socket (docker's API), all at the same time, 2 s for each.
   * @returns a call for each path, in their order
   */
  askHttp(socket: string, paths: readonly string[], deadline: Deadline): Promise<readonly HttpCall[]>;
  /** kill(2). The guards are the caller's; this re-reads nothing. Returns the errno's name, or null when sent. */
  signal(pid: number, signal: 'SIGUSR1'): string | null;
  /** From now on a probe may be silent over one item this many times longer than a request says. */
  bePatient(times: number): void;
  /** From now on probes leave the CPU to others. Before that they hurry: what is to be seen first is gone first. */
  leaveCpu(): void;
  readonly stuckProbes: readonly StuckProbe[];
  cost(): ObserverCost;
  /** Ends every probe; never waits for one that hangs. */
  close(): Promise<void>;
}

export type * from './port/commands.ts';
export type * from './port/daemons.ts';
export type * from './port/files.ts';
export type * from './port/outcome.ts';
export type * from './port/probes.ts';
export type * from './port/shims.ts';
export type * from './port/threads.ts';
export type * from './port/usage.ts';
