import { monotonicMs, timesSince } from '../clock.ts';
import type { Drain, Outcome } from '../port.ts';
import { unread } from './files-request.ts';
import type { ProbePool } from './pool.ts';
import { SingleJob } from './single-job.ts';

/** A drain that nobody finishes: longer than any run. */
const FORGOTTEN_MS = 10 * 60_000;
/** Beyond the drain's own deadline, in which it still empties the pipe. */
const MARGIN_MS = 700;

type Opened = Awaited<Drain['opened']>;

/** Opens a shim's log fifo in a probe of its own and reads it until `finish` is satisfied. */
export function askDrain(pool: ProbePool, pid: number, fd: number, decoy: boolean): Drain {
  const path = `/proc/${pid}/fd/${fd}`;
  const opened = Promise.withResolvers<Opened>();
  const late = new AbortController();
  let openedAtMs = Date.now();
  const job = new SingleJob({ op: 'drain', pid, fd, decoy }, path, 'drain', ({ header }) => {
    if (header.kind !== 'opened') return;
    openedAtMs = Date.now();
    const { outcome, detail } = header;
    const readerPid = pool.probeOf(job)?.pid;
    opened.resolve({
      outcome: outcome as Outcome,
      ...(detail === undefined ? {} : { detail }),
      ...(readerPid === undefined ? {} : { readerPid }),
    });
  });
  const deadline = { deadlineMs: FORGOTTEN_MS, itemMs: Number.POSITIVE_INFINITY, signal: late.signal };
  const ended = pool.run(job, deadline).then(cutShort => {
    const { answer } = job;
    const given = answer !== null && 'outcome' in answer ? answer : null;
    opened.resolve({ outcome: given?.outcome ?? 'timeout', detail: given?.detail ?? cutShort ?? '' });
    return cutShort;
  });

  return {
    opened: opened.promise,
    async finish({ marker, deadlineMs, notBefore }) {
      const began = monotonicMs();
      const timer = setTimeout(() => late.abort(), deadlineMs + MARGIN_MS);
      const { outcome } = await opened.promise;
      // Ours is not older than the opening, which came before the signal.
      const notBeforeMs = notBefore === undefined ? openedAtMs : Date.parse(notBefore);
      if (outcome === 'ok') pool.probeOf(job)?.send({ op: 'finish', marker, notBeforeMs, untilMs: began + deadlineMs });
      const cutShort = await ended;
      clearTimeout(timer);
      const { answer } = job;
      if (answer === null) return unread(path, 'timeout', cutShort ?? '');
      if ('outcome' in answer) return unread(path, answer.outcome, answer.detail);
      const result = answer.result as Opened;
      return {
        path,
        outcome: result.outcome,
        body: answer.body,
        ...(result.detail === undefined ? {} : { detail: result.detail }),
        ...timesSince(began),
      };
    },
  };
}
