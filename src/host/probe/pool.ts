import { monotonicMs } from '../clock.ts';
import type { Frame } from '../frames.ts';
import type { Deadline, StuckProbe } from '../port.ts';
import type { SelfCommand } from '../self.ts';
import { Assignment } from './assignment.ts';
import { autopsy, type Findings, NO_FINDINGS, openFileIn } from './autopsy.ts';
import { killDescendantsOf } from './descendants.ts';
import { Hangs } from './hangs.ts';
import { IdleProbes } from './idle-probes.ts';
import type { Job } from './job.ts';
import { type CutShort, type Pending, pend } from './pending.ts';
import type { ProbeProcess } from './probe-process.ts';
import type { Reply } from './protocol.ts';

/** Probes at a time that are not given up: the node is short of something already. */
const MOST_LIVE = 4;
/**
 * A request waits this long for a busy probe before another one is started. What is soon gone cannot wait; later on
 * another 30 MB and 80 ms of CPU would only bring sooner what is there anyway.
 */
const PATIENCE_MS = { hurried: 100, calm: 400 } as const;
/** A probe that says nothing for so long when it is let go of counts as stuck: others report ten times as often. */
const SILENT_MS = 250;

/** The probes of a run: who answers which request, and what happens when one does not. */
export class ProbePool {
  readonly #queue: Pending[] = [];
  readonly #idle: IdleProbes;
  readonly #busy = new Map<ProbeProcess, Assignment>();
  readonly #hangs = new Hangs();
  #growth: NodeJS.Timeout | undefined;
  #closed = false;
  #hurries = true;
  /** How many times longer than usual a probe may be silent over one item. */
  patience = 1;

  constructor(self: SelfCommand) {
    this.#idle = new IdleProbes(self);
  }

  /** How many were started in all. */
  get started(): number {
    return this.#idle.started;
  }

  get stuck(): readonly StuckProbe[] {
    return this.#hangs.stuck;
  }

  /** Those that may be alive, given up or not. */
  get pids(): readonly number[] {
    const known = [...this.#idle.all, ...this.#busy.keys(), ...this.#hangs.probes];
    return known.flatMap(probe => (probe.exited ? [] : (probe.pid ?? [])));
  }

  /** Probes that are here, and those to come, give way to others for the CPU. A drain does not: it must read before others. */
  leaveCpu(): void {
    this.#hurries = false;
    for (const { probe, pending } of this.#busy.values()) if (!pending.job.waits) probe.leaveCpu();
  }

  /** Starts a first probe ahead of the first request. */
  warmUp(): void {
    if (this.#idle.all.length + this.#busy.size === 0) this.#idle.put(this.#start());
  }

  /** Resolves when the job is answered as far as it can be, at the latest at its deadline. Never rejects. */
  run(job: Job, deadline: Deadline): Promise<CutShort> {
    if (this.#closed) return Promise.resolve('the run is over');
    if (deadline.signal?.aborted === true) return Promise.resolve('aborted');
    const pending = pend(job, deadline, this.patience, (late, why) => this.#expire(late, why));
    this.#queue.push(pending);
    this.#pump();
    return pending.ended;
  }

  /** The probe that works on a job now, for a job that has more to say to it. */
  probeOf(job: Job): ProbeProcess | null {
    for (const { pending, probe } of this.#busy.values()) if (pending.job === job) return probe;
    return null;
  }

  /** Ends all probes. @param graceMs that idle ones have to end by themselves */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#growth);
    for (const pending of this.#queue.splice(0)) pending.end('the run is over');
    for (const { pending } of [...this.#busy.values()]) this.#expire(pending, 'the run is over');
    await this.#idle.dismiss(graceMs);
  }

  #pump(): void {
    clearTimeout(this.#growth);
    for (let pending = this.#queue[0]; pending !== undefined; pending = this.#queue[0]) {
      const probe = this.#idle.take() ?? (this.#mayGrow(pending) ? this.#start() : null);
      if (probe === null) {
        const patience = this.#mayGrowAt(pending) - monotonicMs();
        if (this.#busy.size < MOST_LIVE) this.#growth = setTimeout(() => this.#pump(), Math.max(1, patience));
        return;
      }
      this.#queue.shift();
      this.#assign(pending, probe);
    }
  }

  #mayGrow(pending: Pending): boolean {
    if (this.#busy.size === 0 || pending.fresh) return true;
    return this.#busy.size < MOST_LIVE && monotonicMs() >= this.#mayGrowAt(pending);
  }

  /** One at a time when there is no hurry: the last that was started may soon be free for this request, too. */
  #mayGrowAt({ queuedAt }: Pending): number {
    if (this.#hurries) return queuedAt + PATIENCE_MS.hurried;
    return Math.max(queuedAt, this.#idle.startedAt) + PATIENCE_MS.calm;
  }

  #start(): ProbeProcess {
    return this.#idle.start(probe => ({
      onReady: () => this.#onReady(probe),
      onFrame: frame => this.#onFrame(probe, frame),
      onEnd: why => this.#onEnd(probe, why),
    }));
  }

  #assign(pending: Pending, probe: ProbeProcess): void {
    const request = pending.job.request(kind => this.#hangs.of(kind));
    if (request === null) {
      this.#idle.put(probe);
      pending.end(null);
      return;
    }
    const assignment = new Assignment(pending, probe, request);
    this.#busy.set(probe, assignment);
    // One that is still starting is told when it is there: until then it can be kept for somebody else.
    if (probe.readyAt !== null) this.#begin(assignment);
  }

  #begin(assignment: Assignment): void {
    const { pending, probe } = assignment;
    if (!this.#hurries && !pending.job.waits) probe.leaveCpu();
    assignment.begin(() => {
      this.#giveUp(assignment, `no answer for ${Math.round(assignment.silentMs)} ms`);
      this.#again(pending);
    });
  }

  #onReady(probe: ProbeProcess): void {
    const assignment = this.#busy.get(probe);
    if (assignment !== undefined) this.#begin(assignment);
  }

  #onFrame(probe: ProbeProcess, frame: Frame<Reply>): void {
    const assignment = this.#busy.get(probe);
    if (assignment === undefined) return;
    const { job, end } = assignment.pending;
    const { header } = frame;
    if (header.kind !== 'done') {
      job.take(frame);
      return;
    }
    job.finish(frame);
    if (header.spent !== true) {
      this.#release(assignment);
      this.#idle.put(probe);
    } else {
      // A command that outlived its time hangs as a read does, only one process further down.
      if (header.children !== undefined) this.#record(assignment, { ...NO_FINDINGS, children: header.children }, null);
      this.#letGo(assignment);
    }
    end(null);
    this.#pump();
  }

  #onEnd(probe: ProbeProcess, why: string): void {
    const assignment = this.#busy.get(probe);
    if (assignment === undefined) return;
    const { pending } = assignment;
    this.#release(assignment);
    if (probe.readyAt !== null) this.#died(pending, why);
    if (!this.#idle.gaveUpStarting()) {
      this.#again(pending);
      return;
    }
    pending.end(`no probe can be started (${why})`);
    this.#pump();
  }

  /**
   * A probe died of a request, or in its time. Once may be chance, since the kernel takes probes first when memory is
   * short; twice at the same place is the item's doing.
   */
  #died(pending: Pending, why: string): void {
    pending.crashes += 1;
    if (pending.job.repeatable && pending.crashes < 2) return;
    pending.job.giveUp(null, { outcome: 'error', detail: `the probe ended: ${why}`, openFile: null });
    pending.crashes = 0;
  }

  #again(pending: Pending): void {
    pending.fresh = true;
    this.#queue.unshift(pending);
    this.#pump();
  }

  #expire(pending: Pending, why: string): void {
    const queued = this.#queue.indexOf(pending);
    if (queued >= 0) {
      this.#queue.splice(queued, 1);
      pending.end(`${why} before a probe was free`);
      return;
    }
    const assignment = [...this.#busy.values()].find(one => one.pending === pending);
    if (assignment === undefined) return;
    if (assignment.probe.readyAt === null) this.#keep(assignment);
    else if (assignment.silentMs >= SILENT_MS && !pending.job.waits) this.#giveUp(assignment, why);
    else this.#letGo(assignment);
    pending.end(why);
    this.#pump();
  }

  /** A probe that is still starting has done nothing yet: it stays for the next request. */
  #keep(assignment: Assignment): void {
    const { probe } = assignment;
    if (assignment.silentMs >= SILENT_MS && probe.pid !== undefined) {
      this.#record(assignment, autopsy(probe.pid, false).findings, null);
    }
    this.#release(assignment);
    this.#idle.put(probe);
  }

  /** Its probe hangs: that is evidence, and the item is not asked for again. */
  #giveUp(assignment: Assignment, why: string): void {
    const { job } = assignment.pending;
    const { pid = 0 } = assignment.probe;
    const { item, findings } = autopsy(pid, true);
    this.#record(assignment, findings, item);
    this.#letGo(assignment);
    const openFile = openFileIn(findings.fds, pid);
    this.#hangs.count(job.kindOf(item, openFile));
    job.giveUp(item, { outcome: 'timeout', detail: why, openFile });
  }

  #record(assignment: Assignment, findings: Findings, index: number | null): void {
    const { job } = assignment.pending;
    const waitedMs = Math.round(assignment.silentMs);
    this.#hangs.record(assignment.probe, { request: job.name, item: job.describe(index), waitedMs }, findings);
  }

  /** Parts with a probe in the middle of a request, and with all that runs below it. */
  #letGo(assignment: Assignment): void {
    const { probe } = assignment;
    this.#release(assignment);
    // Of a command, what left the group is ours all the same.
    if (probe.pid !== undefined && !probe.exited) killDescendantsOf(probe.pid);
    probe.abandon();
  }

  #release(assignment: Assignment): void {
    assignment.end();
    this.#busy.delete(assignment.probe);
  }
}
