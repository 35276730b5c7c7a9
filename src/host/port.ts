import type { CriAnswer, CriQuestion } from '../formats/cri/calls.ts';
import type { CpuClock, CpuClocks } from '../formats/proc/cpu-clocks.ts';
import type { ConnectAnswer, StateAnswer, TaskApi } from '../formats/ttrpc/task.ts';

/**
 * The machine, as the rest of the program sees it. Only src/host touches node:fs, node:child_process,
 * execa or pidusage; everything else gets a Host.
 *
 * Two kinds of access: what cannot hang is read at once, synchronously, in this process (`read`, `list`,
 * `link`, `look`); all else goes to an expendable probe child with a deadline (`readRisky`, `sweep`, `run`,
 * `drain`, `ask…`). Nothing here throws for a file that cannot be read: the outcome says so.
 */

/**
 * How a piece of evidence was got.
 * - `ok`: whole
 * - `empty`: read to its end, nothing in it
 * - `absent`: not expected on this node (no crictl, cgroup v1, old kernel); does not make a bundle incomplete
 * - `truncated`: a cap or a deadline cut it
 * - `timeout`: the read hung; see stuckProbes
 * - `denied`: EACCES or EPERM; `detail` names the right that is missing
 * - `gone`: the process or file vanished between being found and being read (ENOENT, ESRCH)
 * - `error`: anything else; `detail` has the errno
 */
export type Outcome = 'ok' | 'empty' | 'absent' | 'truncated' | 'timeout' | 'denied' | 'gone' | 'error';

/** One file as it was read. Times are milliseconds of the monotonic clock since the start of the process. */
export interface FileResult {
  readonly path: string;
  readonly outcome: Outcome;
  readonly body: Buffer;
  readonly detail?: string;
  readonly stat?: FileStat;
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** Nanosecond times as decimal strings: they do not fit a double. */
export interface FileStat {
  readonly type: 'file' | 'dir' | 'link' | 'fifo' | 'socket' | 'device';
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly inode: string;
  readonly device: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** One thing for a probe to read. */
export interface FileRequest {
  readonly path: string;
  /**
   * `body` (default): the bytes · `link`: readlink, the target is the body · `stat`: lstat only ·
   * `dir`: names of a directory, one per line, a trailing `/` on directories · `room`: bytes that are free on its
   * filesystem, and the type of that (f_type of statfs(2)), as decimal digits.
   */
  readonly what?: 'body' | 'link' | 'stat' | 'dir' | 'room';
  /** Also lstat it (fstat of what was opened, for a body). */
  readonly withStat?: boolean;
  /** Default 1 MiB. */
  readonly maxBytes?: number;
  /** Keep the first (default) or the last `maxBytes`. */
  readonly keep?: 'head' | 'tail';
  /**
   * Of a body that is NUL-separated `NAME=value` (environ): the value of this name alone. The rest does not leave the
   * probe, for environments hold secrets. Outcome `absent` without it.
   */
  readonly variable?: string;
  /**
   * Of a directory: left alone, outcome `absent`, where reading it would write its access time to a disk that has requests
   * waiting. A body is read without that write; of a directory there is no such way, and on a stalled disk it hangs in the journal.
   */
  readonly spareBusyDisk?: true;
  /** Follow a symlink in the last path component (default false: O_NOFOLLOW; /proc magic links are never followed either). */
  readonly follow?: boolean;
}

export interface Deadline {
  /** All of the request, ms from now. */
  readonly deadlineMs: number;
  /** A single file that brings nothing for this long is given up, and the rest goes on in a fresh probe. Default 1000. */
  readonly itemMs?: number;
  readonly signal?: AbortSignal;
}

/** A command of the node: never the binary of a stalled disk in the main process. */
export interface CommandRequest {
  /** argv[0] is searched in PATH inside the probe, since PATH itself may lie on the stalled disk. */
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  /** Cap of stdout and of stderr each. Default 4 MiB. */
  readonly maxBytes?: number;
  readonly keep?: 'head' | 'tail';
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface CommandResult {
  readonly argv: readonly string[];
  /** `absent`: no such program in PATH. `timeout`: it hung, or its exec did. `error`: exit code not 0. */
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly detail?: string;
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** The raw text of one thread's files; null where a file could not be read (`errors` says why). */
export interface ThreadLook {
  readonly tid: number;
  readonly stat: string | null;
  readonly wchan: string | null;
  readonly sched: string | null;
  readonly syscall: string | null;
  readonly stack: string | null;
  /** file name -> errno, 'stack' -> 'EACCES' */
  readonly errors: Readonly<Record<string, string>>;
}

/** All threads of one process at one moment, read in the main process (safe for a shim with two threads or more) or by a probe. */
export interface ProcessLook {
  readonly pid: number;
  readonly comm: string | null;
  /** Text of /proc/<pid>/status. */
  readonly status: string | null;
  /** Text of /proc/<pid>/stat; field 22 is the start time that guards against a reused pid. */
  readonly stat: string | null;
  /** readlink of /proc/<pid>/cwd. */
  readonly cwd: string | null;
  readonly threads: readonly ThreadLook[];
  /** The clock of the sampler's CPU just before: what `se.exec_start` of threads on that CPU is compared to. */
  readonly clock: CpuClock | null;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly detail?: string;
}

/** What the entry saw before anything else was loaded. */
export interface FirstLook {
  /** Raw arguments that equal, or are a prefix (4 characters or more) of, an id in a shim's cwd: those shims; else all shims of the node. */
  readonly matchedBy: 'id' | 'all';
  readonly shims: readonly ProcessLook[];
  /** When the first kernel stack of a shim was in hand, ms since the start of the process; null without a shim. */
  readonly firstStackMs: number | null;
  /** How many shims were left for lack of time. */
  readonly detail?: string;
}

export interface Moment {
  /** ISO 8601 with ms, UTC. */
  readonly wall: string;
  /** Monotonic ms since the start of the process (process.hrtime based; survives a clock that is set back). */
  readonly offsetMs: number;
}

/** A probe child that hung, as an autopsy found it. */
export interface StuckProbe {
  readonly pid: number;
  readonly request: string;
  /** What it hung on: a path, an argv. */
  readonly item: string;
  readonly offsetMs: number;
  readonly waitedMs: number;
  readonly state: string | null;
  readonly wchan: string | null;
  readonly syscall: string | null;
  readonly stack: string | null;
  readonly fds: readonly string[];
  /** Its own children (a command that hangs): pid, comm, state, wchan. */
  readonly children: readonly string[];
  /** false: still there after SIGKILL when the run ended. */
  readonly reaped: boolean;
}

/** Every thread of the node, and the details of those that matter. */
export interface SweepRequest {
  /** Processes (the pod's tree) whose threads get syscall and stack in any state; of all others only threads in D. */
  readonly tree: readonly number[];
  /** Of the CPUs that the threads may have run on. Default: none. */
  readonly clocks?: CpuClocks;
}

export interface SweepResult {
  readonly outcome: Outcome;
  readonly detail?: string;
  /** Text, columns as `ps -eLo pid,tid,ppid,stat,wchan:32,etime,args`, with ps's header line. */
  readonly processes: Buffer;
  /** Text in the layout of formats/thread-dump.ts: every thread in D, and every thread of the tree. */
  readonly blocked: Buffer;
  readonly threadCount: number;
  readonly blockedCount: number;
  /** Processes of which a read hung, with the file it hung in. */
  readonly hung: readonly { readonly pid: number; readonly file: string }[];
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** A reader on a shim's log fifo (/proc/<shim>/fd/<fd>), opened before the signal is sent. */
export interface Drain {
  /** Resolves when the fifo is open, or could not be opened. `readerPid`: the process that waits in read(2), for its priority. */
  readonly opened: Promise<Pick<FileResult, 'outcome' | 'detail'> & { readonly readerPid?: number }>;
  /**
   * Reads until `marker` has come and the pipe is empty, or the deadline passes. With `notBefore` (ISO 8601) the marker
   * counts only in a line whose `time="…"` is not before it: older dumps may be queued in the pipe ahead of ours. A
   * `time` without a fraction (v1 shims) is compared by whole seconds.
   */
  finish(until: {
    readonly marker: string;
    readonly deadlineMs: number;
    readonly notBefore?: string;
  }): Promise<FileResult>;
}

/** One process over a moment: what it used. */
export interface Usage {
  readonly pid: number;
  /** Of one CPU, over the pause between the two readings. */
  readonly cpuPercent: number;
  readonly rssBytes: number;
  /** User and system, since its start. */
  readonly cpuMs: number;
  readonly ageMs: number;
}

export interface UsageResult {
  readonly outcome: Outcome;
  readonly detail?: string;
  /** Processes that were gone at the second reading are left out. */
  readonly usages: readonly Usage[];
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** What is asked of one shim over its ttrpc socket: Connect, and once that is answered State of some containers. */
export interface ShimQuestion {
  /** As `<bundle>/address` or bootstrap.json has it: `unix://<path>`; without the scheme it is an abstract name. */
  readonly socket: string;
  /** In front of a path: '', or `/proc/<pid>/root` for another mount namespace. */
  readonly prefix: string;
  /** Tried in this order, the next one when the shim says that it does not serve the one before. */
  readonly apis: readonly TaskApi[];
  /** containerd's: k8s.io, moby. */
  readonly namespace: string;
  /** What Connect is asked about: the shim's own id. */
  readonly id: string;
  /** Of these, State is asked, once, all at the same time. */
  readonly containers: readonly string[];
}

/** One call to a shim, and what became of it. */
export interface ShimCall {
  /** ShimInfo is what v1 shims have for Connect. */
  readonly call: 'Connect' | 'ShimInfo' | 'State';
  /** Of State; null for the others. */
  readonly container: string | null;
  /** `containerd.task.v2.Task` */
  readonly service: string;
  /**
   * - `ok`: answered
   * - `error`: answered with a status, with garbage, or by hanging up
   * - `gone`: nobody listens at that socket
   * - `not-asked`: Connect had no answer, and State would only have left a goroutine behind
   */
  readonly outcome: 'ok' | 'error' | 'timeout' | 'gone' | 'denied' | 'not-asked';
  readonly offsetMs: number;
  readonly latencyMs: number;
  readonly answer: ConnectAnswer | StateAnswer | null;
  /** google.rpc.Status, where that was the answer. */
  readonly status?: { readonly code: number; readonly message: string };
  readonly detail?: string;
}

/** Word that runs leave for each other in /run/stallcap, so that a shim is not signalled twice in a row. */
export interface SignalMark {
  /** The process, and its start time. */
  readonly pid: number;
  readonly startTicks: string;
  /** pid of the run that leaves it. */
  readonly by: number;
  /** `claim`: it is about to signal, unless another did a moment ago · `again`: it will in any case · `sent` · `free`: it did not after all. */
  readonly what: 'claim' | 'again' | 'sent' | 'free';
  /** A claim gives way to a mark of another run that is younger than this. */
  readonly windowMs: number;
}

/** `taken`: another run's, `detail` says whose and when. `unknown`: no word could be left, `detail` says why. */
export type SignalMarked =
  | { readonly outcome: 'ours' }
  | { readonly outcome: 'taken' | 'unknown'; readonly detail: string };

/** One call to a runtime's CRI service, and what became of it. */
export interface CriCall {
  readonly question: CriQuestion;
  /** `runtime.v1.RuntimeService` */
  readonly service: string;
  /** `gone`: nobody listens at that socket. `error`: answered with a status, or with what is no answer. */
  readonly outcome: 'ok' | 'error' | 'timeout' | 'gone' | 'denied';
  readonly offsetMs: number;
  readonly latencyMs: number;
  readonly answer: CriAnswer | null;
  /** grpc's, where that was the answer. */
  readonly status?: { readonly code: number; readonly message: string };
  readonly detail?: string;
}

/** One GET, and what became of it. */
export interface HttpCall {
  readonly path: string;
  /** `error`: also a status that is none of 2xx. `gone`: nobody listens at that socket. */
  readonly outcome: Outcome;
  readonly status: number | null;
  readonly offsetMs: number;
  readonly latencyMs: number;
  readonly body: Buffer;
  readonly detail?: string;
}

/** What the observer itself cost. */
export interface ObserverCost {
  readonly cpuMs: number;
  readonly peakRssBytes: number;
  readonly childCpuMs: number;
  readonly children: number;
}

export interface Host {
  now(): Moment;
  /** ISO wall time of the start of the process: offset 0. */
  readonly startedAt: string;
  /** In this process, at once: only what design says cannot hang (comm, status of any task; node-wide files of /proc that take no lock). */
  read(path: string, maxBytes?: number): FileResult;
  /** Names in a directory of /proc; pids as numbers in rising order come from `pids()`. */
  list(path: string): readonly string[];
  pids(): readonly number[];
  /** In this process: all threads of a process that has two or more; else outcome 'gone' or 'error'. */
  look(pid: number): ProcessLook;
  readRisky(files: readonly FileRequest[], deadline: Deadline): Promise<readonly FileResult[]>;
  /** Like `look`, for any process, in a probe. */
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
  /** From now on probes leave the CPU to others. Before that they hurry: what is to be seen first is gone first. */
  leaveCpu(): void;
  readonly stuckProbes: readonly StuckProbe[];
  cost(): ObserverCost;
  /** Ends every probe; never waits for one that hangs. */
  close(): Promise<void>;
}
