import { setTimeout as sleep } from 'node:timers/promises';
import type { FileResult } from '../../host/port.ts';
import { ownPid } from '../../sandbox/nested-pids.ts';
import type { Capture } from '../collector.ts';
import { DRAIN_MS, END_OF_DUMP, notBefore, OPEN_MS, POLL_MS, THROUGH_CONTAINERD_MS } from './dump-times.ts';
import { better, type OurDump, ourDump } from './our-dump.ts';
import type { PendingDump, SentSignal } from './pending-dump.ts';
import { readFileSink } from './read-file-sink.ts';
import { limitedBefore, readJournal } from './read-journal.ts';
import { threadsWaitingForLog } from './signal-shim.ts';
import type { SinkText } from './sink-text.ts';

/** What the ladder brought. */
export interface FetchedDump {
  readonly dump: OurDump | null;
  /** Where it was found, or all places that were looked into. */
  readonly source: string;
  /** All that was read from the fifo, which nobody else has any more. */
  readonly drained: Buffer | null;
  /** Why there is none, or none that is whole: 'rate limited: …', 'log sink hung: …'. Null where that is not known. */
  readonly why: string | null;
}

/** Climbs the ladder until the dump is whole: our own reader, containerd's sink, the fifo after all. */
export async function fetchDump(capture: Capture, pending: PendingDump, sent: SentSignal): Promise<FetchedDump> {
  const climb = new Climb(capture, pending, sent);
  if (sent.drained !== null) await climb.ownReader(sent.drained);
  if (!climb.whole && sent.sink.kind !== 'none') await climb.containerdSink();
  if (!climb.whole && sent.plan.when === 'after') await climb.lateDrain();
  return climb.result();
}

class Climb {
  readonly #capture: Capture;
  readonly #pending: PendingDump;
  readonly #sent: SentSignal;
  /** What the shim writes as its pid. Asked at once: it may be gone soon. */
  readonly #writes: number;
  readonly #sources: string[] = [];
  readonly #drained: Buffer[] = [];
  #dump: OurDump | null = null;
  #source = '';
  #why: string | null = null;

  constructor(capture: Capture, pending: PendingDump, sent: SentSignal) {
    this.#capture = capture;
    this.#pending = pending;
    this.#sent = sent;
    this.#writes = ownPid(capture.host, pending.shim.pid);
  }

  get whole(): boolean {
    return this.#dump?.complete === true;
  }

  result(): FetchedDump {
    return {
      dump: this.#dump,
      source: this.#dump === null ? this.#sources.join(', ') : this.#source,
      drained: this.#drained.length === 0 ? null : Buffer.concat(this.#drained),
      why: this.#why ?? (this.#dump === null ? 'the shim wrote no dump' : null),
    };
  }

  async ownReader(drained: Promise<FileResult>): Promise<void> {
    const late = sleep(Math.max(0, this.#capture.remainingMs() - OPEN_MS), null, { ref: false });
    const read = await Promise.race([drained, late]);
    if (read === null) this.#step('read the fifo', 'did not end in time');
    else this.#takeDrained(read, 'read the fifo');
    const { when, cause, why } = this.#sent.plan;
    if (!this.whole && when === 'race')
      this.#why = `containerd took ${this.#dump === null ? 'it' : 'a part'}: ${cause}: ${why}`;
  }

  /** Polls until the dump is whole, or as long as containerd may take. */
  async containerdSink(): Promise<void> {
    const untilMs = this.#sent.at.offsetMs + THROUGH_CONTAINERD_MS * this.#capture.patience;
    for (;;) {
      const text = await this.#readSink();
      if (text === null || this.#takeFromSink(text)) return;
      const enough = this.#sent.plan.when === 'before' || this.#capture.host.now().offsetMs >= untilMs;
      if (enough || this.#capture.remainingMs() < POLL_MS) break;
      await sleep(POLL_MS);
    }
    await this.#askForLimit();
  }

  /** An interval of journald's limit is longer than we wait, and its word comes at the end. That it had begun before is a reason, too. */
  async #askForLimit(): Promise<void> {
    const { sink, at, plan } = this.#sent;
    if (sink.kind !== 'journal' || plan.cause !== null || this.#why?.startsWith('rate limited') === true) return;
    const words = await limitedBefore(this.#capture.host, sink, at, Math.max(1, this.#capture.remainingMs() - OPEN_MS));
    if (words !== null) this.#why = `rate limited, as it seems: ${words}`;
  }

  /**
   * Containerd does not drain, or what it drained does not come out. A drain now finds what is left in the pipe; it may
   * un-wedge a shim whose logger is blocked.
   */
  async lateDrain(): Promise<void> {
    const { fifo, at } = this.#sent;
    const { host } = this.#capture;
    const { pid } = this.#pending.shim;
    if (fifo === null) return this.#step('read the fifo after all', 'the shim has no log fifo open');
    const waiting = threadsWaitingForLog(host, pid);
    const drain = host.drain(pid, fifo);
    const deadlineMs =
      Math.min(DRAIN_MS * this.#capture.patience, Math.max(0, this.#capture.remainingMs() - 2 * OPEN_MS)) / 2;
    const read = await drain.finish({ marker: END_OF_DUMP, deadlineMs, notBefore: notBefore(at) });
    this.#takeDrained(read, 'read the fifo after all');
    if (waiting > 0)
      this.#step('effect on the shim', `${waiting} of its threads were blocked in a write to the full pipe`);
    if (this.#dump === null && read.body.length > 0)
      this.#why = 'containerd not draining, and the dump was not in the pipe';
  }

  #readSink(): Promise<SinkText> | null {
    const { sink, at } = this.#sent;
    const { host } = this.#capture;
    const timeoutMs = Math.max(1, Math.min(3000 * this.#capture.patience, this.#capture.remainingMs() - OPEN_MS));
    if (sink.kind === 'file') return readFileSink(host, sink, timeoutMs);
    return sink.kind === 'journal' ? readJournal(host, sink, at, timeoutMs) : null;
  }

  /** True when looking again is of no use. */
  #takeFromSink({ text, source, failed, hung, rateLimited, notes }: SinkText): boolean {
    const found = this.#take(text, source);
    const words = [describe(found), ...(failed === null ? [] : [failed]), ...notes].join('; ');
    this.#step(`look into the log: ${this.#sent.sink.words}`, words);
    if (this.#sent.plan.cause === null) {
      if (rateLimited) this.#why = `rate limited: ${notes.join('; ')}`;
      else if (hung) this.#why = `log sink hung: ${failed}`;
      else if (failed !== null) this.#why = `log sink not readable: ${failed}`;
      else this.#why = this.#dump === null ? `not found in ${source}` : null;
    }
    return this.whole || hung;
  }

  #takeDrained(read: FileResult, step: string): void {
    if (read.body.length > 0) this.#drained.push(read.body);
    const found = this.#take(read.body.toString(), read.path);
    const why = read.detail === undefined ? '' : `, ${read.detail}`;
    const result = `${read.outcome}${why}: ${read.body.length} bytes taken out of the pipe, ${describe(found)}`;
    this.#pending.log.step(step, result, read.offsetMs + read.durationMs);
  }

  #take(text: string, source: string): OurDump | null {
    if (!this.#sources.includes(source)) this.#sources.push(source);
    const found = ourDump(text, this.#writes, notBefore(this.#sent.at));
    if (better(found, this.#dump)) {
      this.#dump = found;
      this.#source = source;
    }
    return found;
  }

  #step(step: string, result: string): void {
    this.#pending.log.step(step, result);
  }
}

function describe(dump: OurDump | null): string {
  return dump === null ? 'no dump of ours in it' : `a dump in it, ${dump.verdict}`;
}
