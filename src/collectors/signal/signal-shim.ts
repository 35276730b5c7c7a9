import { setTimeout as sleep } from 'node:timers/promises';
import type { Drain, Host } from '../../host/port.ts';
import type { Shim } from '../../sandbox/types.ts';
import type { Capture } from '../collector.ts';
import { tellSyslog } from '../syslog.ts';
import { claim } from './claim.ts';
import { readContainerdSide } from './containerd-side.ts';
import { descriptorsOf } from './descriptors.ts';
import { type DrainPlan, outletOf, planDrain } from './drain-plan.ts';
import { CURSOR_MS, DRAIN_MS, END_OF_DUMP, notBefore, OPEN_MS } from './dump-times.ts';
import { favourReader } from './favour-reader.ts';
import { findSink } from './find-sink.ts';
import { judge } from './guards.ts';
import { killFailure } from './kill-failure.ts';
import { findLogFifo } from './log-fifo.ts';
import type { PendingDump, SentSignal } from './pending-dump.ts';
import { newestCursor } from './read-journal.ts';
import { lookUntilClear, readShim } from './read-shim.ts';
import { SignalLog } from './signal-log.ts';
import type { Sink } from './sink.ts';
import { threadStates } from './thread-states.ts';

/**
 * SIGUSR1 to one shim, once: guards, where the dump will go, our own reader first where nobody else's would do, the guards
 * again, and the signal. Waits for nothing that comes after it.
 */
export async function signalShim(capture: Capture, shim: Shim): Promise<PendingDump> {
  const { host, options } = capture;
  const log = new SignalLog(capture, shim);
  const refuse = (kind: 'chosen' | 'guard' | 'denied', reason: string): PendingDump => {
    log.notSent(reason);
    return { shim, log, refusal: { kind, reason }, sent: null };
  };
  if (!options.signal) return refuse('chosen', '--no-signal');

  const reading = await readShim(host, shim);
  const first = judge(reading, options.forceSignal);
  log.guards(first.guards);
  if (first.refusal !== null) return refuse(lacksHandler(first.guards) ? 'chosen' : 'guard', `guard ${first.refusal}`);

  const mark = await claim(capture, shim, log);
  if (mark.taken !== null) return refuse('guard', `${mark.taken}; --signal-again sends it all the same`);
  const way = await findWay(capture, shim, log);
  const { plan, sink, fifo } = way;
  const drain = plan.when === 'after' || fifo === null ? null : await openDrain(capture, shim, fifo, way, log);
  if (drain === null && plan.when !== 'after') {
    mark.leave('free');
    return refuse('guard', `nobody would read the dump: ${plan.why}`);
  }

  // Finding the way took time. What may have changed is judged once more, and nothing stands between it and the signal.
  const again = judge({ ...reading, looks: await lookUntilClear(host, shim.pid) }, options.forceSignal);
  log.guards(again.guards);
  const abandon = () => {
    mark.leave('free');
    drain?.finish({ marker: END_OF_DUMP, deadlineMs: 0 }).catch(() => undefined);
  };
  if (again.refusal !== null) {
    abandon();
    return refuse('guard', `guard ${again.refusal}`);
  }
  if (capture.signal.aborted) {
    abandon();
    return refuse('guard', 'the time for it was over');
  }
  const at = host.now();
  const errno = host.signal(shim.pid, 'SIGUSR1');
  if (errno !== null) {
    abandon();
    const { denied, reason } = killFailure(errno);
    return refuse(denied ? 'denied' : 'guard', reason);
  }
  mark.leave('sent');
  // Nobody waits for syslog.
  void tellSyslog(host, `SIGUSR1 to shim ${shim.pid} of sandbox ${shim.id.slice(0, 12)}`).then(result =>
    log.step('line to syslog', result),
  );
  log.sent(at.offsetMs, again.overridden.length === 0 ? '' : `forced past guard ${again.overridden.join(', ')}`);
  const drained =
    drain?.finish({ marker: END_OF_DUMP, deadlineMs: DRAIN_MS * capture.patience, notBefore: notBefore(at) }) ?? null;
  // Awaited in a later phase, or never when the run ends before: a rejection must not end the process meanwhile.
  drained?.catch(() => undefined);
  return { shim, log, refusal: null, sent: { at, plan, sink, fifo, drained } };
}

/** A shim that has no handler has no dump to give: nothing is missing. */
function lacksHandler(guards: readonly { readonly guard: string; readonly passed: boolean }[]): boolean {
  return guards.every(({ guard, passed }) => passed || guard === 'handles SIGUSR1');
}

type Way = Pick<SentSignal, 'plan' | 'sink' | 'fifo'>;

/** Which fifo the dump goes into, who reads it, and where that one writes. */
async function findWay(capture: Capture, shim: Shim, log: SignalLog): Promise<Way> {
  const { host, inventory, patience } = capture;
  const [own] = await descriptorsOf(host, [shim.pid], OPEN_MS * patience);
  const fifo = findLogFifo(own ?? [], shim);
  log.step(
    'find the shim log',
    fifo === null ? 'the shim has no log fifo open' : `descriptor ${fifo.fd}: ${fifo.target}`,
  );

  const containerd = await readContainerdSide(host, shim, inventory.daemons);
  const { daemon, descriptors } = containerd;
  const sink: Sink =
    daemon === null || descriptors === null
      ? { kind: 'none', words: 'descriptors of containerd could not be read', hung: null }
      : await withCursor(capture, await findSink(host, daemon, outletOf(shim), descriptors), log);
  const plan: DrainPlan = planDrain(shim, containerd, sink);
  log.step('find its reader', `${plan.why}; ${ORDER[plan.when]}`);
  return { plan, sink, fifo: fifo?.fd ?? null };
}

/** What is new in the journal is what follows its newest entry of now. */
async function withCursor({ host, patience }: Capture, sink: Sink, log: SignalLog): Promise<Sink> {
  if (sink.kind !== 'journal') return sink;
  const { cursor, absent } = await newestCursor(host, sink, CURSOR_MS * patience);
  // Nothing can be read back from it: then the dump is read beside containerd.
  if (absent) return { kind: 'none', words: `${sink.words}, and there is no journalctl`, hung: sink.hung };
  log.step('newest entry of the journal', cursor ?? 'not told in time: the clock will do');
  return cursor === null ? sink : { ...sink, cursor };
}

const ORDER: Readonly<Record<DrainPlan['when'], string>> = {
  before: 'so the fifo is opened before the signal',
  race: 'so the fifo is read beside containerd, who may get the dump or a part of it',
  after: 'so nobody else reads it for now',
};

async function openDrain(
  { host, patience }: Capture,
  shim: Shim,
  fd: number,
  way: Way,
  log: SignalLog,
): Promise<Drain | null> {
  const waiting = threadsWaitingForLog(host, shim.pid);
  const drain = host.drain(shim.pid, fd, { decoy: way.plan.rival === 'reads once' });
  const waitMs = Math.round(OPEN_MS * patience);
  const late = sleep(waitMs, { outcome: 'timeout', detail: `no answer for ${waitMs} ms` } as const, { ref: false });
  const opened: Awaited<Drain['opened']> = await Promise.race([drain.opened, late]);
  const freed =
    waiting === 0 ? '' : `; ${waiting} threads of the shim were blocked in a write to a full pipe, which reading ends`;
  log.step(`open /proc/${shim.pid}/fd/${fd} for reading`, (opened.detail ?? opened.outcome) + freed);
  if (opened.outcome !== 'ok') return null;
  if (way.plan.rival !== 'none' && opened.readerPid !== undefined)
    await favourReader(host, opened.readerPid, `/proc/${shim.pid}/fd/${fd}`, log);
  return drain;
}

/** A shim whose logger is blocked on a full pipe: reading it changes what is being observed. */
export function threadsWaitingForLog(host: Pick<Host, 'look'>, pid: number): number {
  const waits = /^(anon_)?pipe_(write|wait)$/;
  return threadStates(host.look(pid)).filter(({ wchan }) => wchan !== null && waits.test(wchan)).length;
}
