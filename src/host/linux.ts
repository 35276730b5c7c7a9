import type { CriQuestion } from '../formats/cri/calls.ts';
import type { CpuClocks } from '../formats/proc/cpu-clocks.ts';
import { offsetMs, startedAt } from './clock.ts';
import { observerCost } from './cost.ts';
import { numbersIn } from './look.ts';
import { errnoOf } from './outcome.ts';
import type {
  CommandRequest,
  CommandResult,
  CriCall,
  Deadline,
  Drain,
  FileRequest,
  FileResult,
  Host,
  HttpCall,
  Moment,
  ObserverCost,
  ProcessLook,
  ShimCall,
  ShimQuestion,
  SignalMark,
  SignalMarked,
  StuckProbe,
  SweepRequest,
  SweepResult,
  UsageResult,
} from './port.ts';
import { askCommand } from './probe/ask-command.ts';
import { CpuClockReader } from './probe/ask-cpu-clocks.ts';
import { askCri } from './probe/ask-cri.ts';
import { askDrain } from './probe/ask-drain.ts';
import { askHttp } from './probe/ask-http.ts';
import { askKernelLog } from './probe/ask-kernel-log.ts';
import { askShims } from './probe/ask-shims.ts';
import { askSignalMark } from './probe/ask-signal-mark.ts';
import { askSweep } from './probe/ask-sweep.ts';
import { askUsage } from './probe/ask-usage.ts';
import { filesRequest, unread } from './probe/files-request.ts';
import { ItemsJob } from './probe/items-job.ts';
import { looksRequest, unseen } from './probe/looks-request.ts';
import { ProbePool } from './probe/pool.ts';
import { listSafely, lookSafely, readSafely } from './safe-read.ts';
import { type SelfCommand, selfCommand } from './self.ts';

/** How long the end of a run waits for idle probes to leave. */
const LEAVE_MS = 200;

export interface HostOptions {
  /** How to start this program again, for its probes. */
  readonly self?: SelfCommand;
}

/** The machine that this process runs on. */
export function createHost(options: HostOptions = {}): LinuxHost {
  return new LinuxHost(options.self ?? selfCommand());
}

export class LinuxHost implements Host {
  readonly startedAt = startedAt;
  readonly #pool: ProbePool;
  readonly #cpuClocks: CpuClockReader;

  constructor(self: SelfCommand) {
    this.#pool = new ProbePool(self);
    this.#cpuClocks = new CpuClockReader(this.#pool);
  }

  /** Starts a first probe, so that it is there when it is asked. It keeps nothing alive. */
  warmUp(): void {
    this.#pool.warmUp();
  }

  now(): Moment {
    return { wall: new Date().toISOString(), offsetMs: offsetMs() };
  }

  read(path: string, maxBytes?: number): FileResult {
    return readSafely(path, maxBytes);
  }

  list(path: string): readonly string[] {
    return listSafely(path);
  }

  pids(): readonly number[] {
    return numbersIn('/proc');
  }

  look(pid: number): ProcessLook {
    return lookSafely(pid);
  }

  async readRisky(files: readonly FileRequest[], deadline: Deadline): Promise<readonly FileResult[]> {
    const job = new ItemsJob(filesRequest, files);
    const cutShort = await this.#pool.run(job, deadline);
    return files.map(({ path }, index) => job.results[index] ?? unread(path, 'timeout', `not reached: ${cutShort}`));
  }

  async lookRisky(pids: readonly number[], deadline: Deadline): Promise<readonly ProcessLook[]> {
    const job = new ItemsJob(looksRequest, pids);
    const cutShort = await this.#pool.run(job, deadline);
    return pids.map((pid, index) => job.results[index] ?? unseen(pid, 'timeout', `not reached: ${cutShort}`));
  }

  cpuClocks(cpus: readonly number[], deadline: Deadline): Promise<CpuClocks> {
    return this.#cpuClocks.read(cpus, deadline);
  }

  sweep(request: SweepRequest, deadline: Deadline): Promise<SweepResult> {
    return askSweep(this.#pool, this.pids(), request, deadline);
  }

  run(command: CommandRequest): Promise<CommandResult> {
    return askCommand(this.#pool, command);
  }

  kernelLog(maxBytes: number, deadline: Deadline): Promise<FileResult> {
    return askKernelLog(this.#pool, maxBytes, deadline);
  }

  usage(pids: readonly number[], pauseMs: number, deadline: Deadline): Promise<UsageResult> {
    return askUsage(this.#pool, pids, pauseMs, deadline);
  }

  drain(shimPid: number, fd = 2, { decoy = false }: { readonly decoy?: boolean } = {}): Drain {
    return askDrain(this.#pool, shimPid, fd, decoy);
  }

  askShims(questions: readonly ShimQuestion[], deadline: Deadline): Promise<readonly (readonly ShimCall[])[]> {
    return askShims(this.#pool, questions, deadline);
  }

  markSignal(mark: SignalMark, deadline: Deadline): Promise<SignalMarked> {
    return askSignalMark(this.#pool, mark, deadline);
  }

  askCri(socket: string, questions: readonly CriQuestion[], deadline: Deadline): Promise<readonly CriCall[]> {
    return askCri(this.#pool, socket, questions, deadline);
  }

  askHttp(socket: string, paths: readonly string[], deadline: Deadline): Promise<readonly HttpCall[]> {
    return askHttp(this.#pool, socket, paths, deadline);
  }

  signal(pid: number, signal: 'SIGUSR1'): string | null {
    try {
      process.kill(pid, signal);
      return null;
    } catch (error) {
      return errnoOf(error);
    }
  }

  bePatient(times: number): void {
    this.#pool.patience = times;
  }

  leaveCpu(): void {
    this.#pool.leaveCpu();
  }

  get stuckProbes(): readonly StuckProbe[] {
    return this.#pool.stuck;
  }

  cost(): ObserverCost {
    return observerCost(this.#pool.pids, this.#pool.started);
  }

  async close(): Promise<void> {
    await this.#pool.close(LEAVE_MS);
  }
}
