import type { Evidence } from '../bundle/evidence.ts';
import type { Capture, Collector } from './collector.ts';
import { shimFolder } from './shim-folder.ts';
import { type FetchedDump, fetchDump } from './signal/fetch-dump.ts';
import { type PendingDump, pendingDumps, type Refusal, type SentSignal } from './signal/pending-dump.ts';
import { sameProcess } from './threads-evidence.ts';

/**
 * `<shim>/goroutines.txt`: the goroutine dump that goroutine-signal asked for, with real line ends, and
 * `<shim>/goroutines.raw.log`, the log line as it was found. Where more than that came out of the shim's fifo,
 * `<shim>/log-fifo.txt` has all of it: those lines will not reach containerd's log any more.
 */
export const goroutineDump: Collector = {
  name: 'goroutine-dump',
  phase: 'linger',
  deadlineMs: 15_000,
  targets: ['sandbox'],
  async *collect(capture) {
    for (const pending of pendingDumps(capture)) {
      const folder = shimFolder(capture.shims, pending.shim);
      if (pending.refusal !== null) yield refused(folder, pending, pending.refusal);
      if (pending.sent !== null) yield* fetched(capture, folder, pending, pending.sent);
    }
  },
};

const OUTCOME_OF_REFUSAL = { chosen: 'absent', guard: 'error', denied: 'denied' } as const;

function refused(folder: string, { shim }: PendingDump, { kind, reason }: Refusal): Evidence {
  return {
    path: `${folder}/goroutines.txt`,
    source: `SIGUSR1 to ${shim.pid}`,
    outcome: OUTCOME_OF_REFUSAL[kind],
    body: Buffer.alloc(0),
    detail: `not sent (${reason})`,
  };
}

async function* fetched(
  capture: Capture,
  folder: string,
  pending: PendingDump,
  sent: SentSignal,
): AsyncGenerator<Evidence> {
  const found = await fetchDump(capture, pending, sent);
  const { dump, source, drained } = found;
  const verdict = dump === null ? `lost (${found.why})` : dump.verdict;
  pending.log.step('look at the shim again', shimNow(capture, pending));
  pending.log.dump(verdict);
  const words = dump !== null && found.why !== null ? [verdict, found.why] : [verdict];
  const detail = dump?.complete === true ? undefined : [...words, offerStrace(pending)].join('; ');

  const entry = { source: source || `SIGUSR1 to ${pending.shim.pid}`, ...(detail === undefined ? {} : { detail }) };
  yield { path: `${folder}/goroutines.txt`, ...entry, outcome: outcomeOf(found), body: Buffer.from(dump?.text ?? '') };
  if (dump !== null)
    yield { path: `${folder}/goroutines.raw.log`, ...entry, outcome: outcomeOf(found), body: Buffer.from(dump.raw) };
  if (drained !== null && drained.toString().trimEnd() !== (dump?.raw ?? '').trimEnd())
    yield {
      path: `${folder}/log-fifo.txt`,
      source: `/proc/${pending.shim.pid}/fd/${sent.fifo}`,
      outcome: 'ok',
      body: drained,
    };
}

function outcomeOf({ dump }: FetchedDump): Evidence['outcome'] {
  if (dump === null) return 'timeout';
  return dump.complete ? 'ok' : 'truncated';
}

/** A signal that killed, or a dump that held the shim up, must not go unsaid. */
function shimNow({ host }: Capture, { shim }: PendingDump): string {
  const look = sameProcess(host.look(shim.pid), shim.startTicks);
  if (look.outcome === 'gone') return `the shim is gone: ${look.detail ?? 'no such process'}`;
  return `the shim is alive, ${look.threads.length} threads`;
}

/** The maintainers' own way to a dump that no log brings (containerd#13814). It stops the shim's threads: a person's decision. */
function offerStrace({ shim, log }: PendingDump): string {
  const line = `strace -f -y -e trace=write -e write=2 -s 1000000 -p ${shim.pid}`;
  log.step('offer, not run', `${line}  (while kill -USR1 ${shim.pid} is sent again)`);
  return `by hand: ${line}, and kill -USR1 ${shim.pid} beside it`;
}
