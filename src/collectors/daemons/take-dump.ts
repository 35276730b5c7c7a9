import { setTimeout as sleep } from 'node:timers/promises';
import type { Evidence } from '../../bundle/evidence.ts';
import { completenessOf } from '../../formats/goroutines/completeness.ts';
import { parseGoroutines } from '../../formats/goroutines/parse-goroutines.ts';
import type { FileResult } from '../../host/port.ts';
import type { RuntimeDaemon } from '../../sandbox/types.ts';
import type { Capture } from '../collector.ts';
import { evidenceOf } from '../evidence-of.ts';
import { judgeBy } from '../signal/guards.ts';
import { killFailure } from '../signal/kill-failure.ts';
import { SignalLog } from '../signal/signal-log.ts';
import { tellSyslog } from '../syslog.ts';
import { DAEMON_GUARDS } from './daemon-guards.ts';
import { type DumpPlace, dumpPlaceOf, dumpsAt, freshAmong } from './dump-files.ts';
import { readDaemon } from './read-daemon.ts';

/** containerd with ten thousand goroutines takes a second to print them. */
const COMES_MS = 4000;
const POLL_MS = 50;
const READ_MS = 3000;
/** Of a daemon with a leak of goroutines: its first ones, which are the oldest. */
const LARGEST_BYTES = 32 << 20;

/** SIGUSR1 to a daemon, once, through its guards, and the file that it writes its goroutines to. */
export async function takeDump(capture: Capture, daemon: RuntimeDaemon, path: string): Promise<Evidence> {
  const { host, options } = capture;
  const log = new SignalLog(capture, daemon, daemon.kind);
  const refused = (outcome: Evidence['outcome'], reason: string): Evidence => {
    log.notSent(reason);
    return { path, source: `SIGUSR1 to ${daemon.pid}`, outcome, body: Buffer.alloc(0), detail: `not sent (${reason})` };
  };
  if (!options.signal) return refused('absent', '--no-signal');
  const place = await dumpPlaceOf(host, daemon);
  const before = await dumpsAt(host, place);
  const { guards, refusal, overridden } = judgeBy(
    DAEMON_GUARDS,
    await readDaemon(host, daemon, place),
    options.forceSignal,
  );
  log.guards(guards);
  if (refusal !== null) return refused('error', `guard ${refusal}`);
  if (capture.signal.aborted) return refused('error', 'the time for it was over');
  const at = host.now();
  const errno = host.signal(daemon.pid, 'SIGUSR1');
  if (errno !== null) {
    const { denied, reason } = killFailure(errno);
    return refused(denied ? 'denied' : 'error', reason);
  }
  // Nobody waits for syslog.
  void tellSyslog(host, `SIGUSR1 to ${daemon.kind} ${daemon.pid}`).then(result => log.step('line to syslog', result));
  log.sent(at.offsetMs, overridden.length === 0 ? '' : `forced past guard ${overridden.join(', ')}`);

  const written = await awaitDump(capture, place, before);
  const where = `${place.directory}/${place.name ?? 'goroutine-stacks-*.log'}`;
  if (written === null) {
    log.step('wait for the file', `${where} was not written`);
    log.dump('lost (no file was written)');
    const detail = 'sent, and no file was written in time';
    return { path, source: where, outcome: 'timeout', body: Buffer.alloc(0), detail };
  }
  const [file] = await host.readRisky([{ path: written.path, maxBytes: LARGEST_BYTES }], { deadlineMs: READ_MS });
  const evidence = evidenceOf(path, file ?? written);
  log.step('read the file', `${written.path}: ${evidence.outcome}, ${evidence.body.length} bytes`);
  log.dump(completenessOf(parseGoroutines(evidence.body.toString('utf8')).goroutines, 'unmarked').verdict);
  return evidence;
}

/** The file when it is there and grows no more; null when it does not come. */
async function awaitDump(
  capture: Capture,
  place: DumpPlace,
  before: ReadonlyMap<string, FileResult>,
): Promise<FileResult | null> {
  const untilMs = capture.host.now().offsetMs + Math.min(COMES_MS, capture.remainingMs());
  let last: FileResult | null = null;
  while (capture.host.now().offsetMs < untilMs) {
    await sleep(POLL_MS);
    const fresh = freshAmong(await dumpsAt(capture.host, place), before);
    const { size, mtimeNs } = fresh?.stat ?? {};
    if (fresh !== null && size === last?.stat?.size && mtimeNs === last?.stat?.mtimeNs) return fresh;
    last = fresh;
  }
  return last;
}
