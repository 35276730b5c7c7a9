import { parseStat } from '../../formats/proc/stat.ts';
import { catches, parseStatus } from '../../formats/proc/status.ts';
import type { RuntimeDaemon } from '../../sandbox/types.ts';
import { type Guard, handlesSignal, type Looked, type Read, takesSignals, worldCanStop } from '../signal/guards.ts';

/** What the guards judge before a daemon is signalled, all of it read immediately before. */
export interface DaemonReading extends Looked {
  /** As it was when it was found. */
  readonly daemon: RuntimeDaemon;
  readonly exe: Read;
  /** Null: what it writes to its standard error gets through; else why it does not. */
  readonly stuckLog: string | null;
  /** Where its stderr leads. */
  readonly log: string;
  /** Directory that the dump is written to, and whether that answers. */
  readonly directory: { readonly path: string; readonly outcome: string };
}

const PROGRAMS = { containerd: /^(docker-)?containerd$/, dockerd: /^dockerd$/ } as const;

/** kubelet ignores the signal, a foreground runc passes it on to its container, and whatever else would die of it. */
const sameDaemon: Guard<DaemonReading> = {
  name: 'same daemon',
  forcible: false,
  judge({ daemon, looks, exe }) {
    const look = looks.at(-1) ?? looks[0];
    const stat = look.stat === null ? null : parseStat(look.stat);
    if (stat === null) return { passed: false, saw: `it could not be looked at: ${look.detail ?? look.outcome}` };
    if (stat.startTicks !== daemon.startTicks)
      return { passed: false, saw: `started at tick ${stat.startTicks}, ${daemon.kind} at ${daemon.startTicks}` };
    if (exe.outcome !== 'ok') return { passed: false, saw: `its exe link: ${exe.detail ?? exe.outcome}` };
    const path = exe.body.toString().replace(/ \(deleted\)$/, '');
    const program = path.split('/').at(-1) ?? '';
    return { passed: PROGRAMS[daemon.kind].test(program), saw: `start tick ${stat.startTicks}, exe ${path}` };
  },
};

/** SIGFPE, SIGBUS, SIGSEGV, SIGPIPE and SIGPROF: Go's runtime has a handler for each, no other daemon for all of them. */
const OF_GO = [8, 7, 11, 13, 27];

/** The dump is that of Go's runtime, and the limits below are those of Go programs. */
const goProgram: Guard<DaemonReading> = {
  name: 'Go program',
  forcible: false,
  judge({ looks }) {
    const parsed = parseStatus((looks.at(-1) ?? looks[0]).status ?? '');
    const mask = parsed.fields.get('SigCgt')?.trim() ?? 'unknown';
    return { passed: OF_GO.every(signal => catches(parsed, signal) === true), saw: `SigCgt ${mask}` };
  },
};

/**
 * containerd logs its dump before it writes the file: with nobody behind its standard error the log call blocks for ever,
 * with the mutex that every other line of log waits for.
 */
const logDrained: Guard<DaemonReading> = {
  name: 'standard error drained',
  forcible: false,
  judge: ({ stuckLog, log }) => ({ passed: stuckLog === null, saw: stuckLog ?? log }),
};

const directoryAnswers: Guard<DaemonReading> = {
  name: 'directory of the dump answers',
  forcible: false,
  judge: ({ directory: { path, outcome } }) => ({ passed: outcome === 'ok', saw: `${path}: ${outcome}` }),
};

/** In the order in which they are recorded. */
export const DAEMON_GUARDS: readonly Guard<DaemonReading>[] = [
  sameDaemon,
  goProgram,
  handlesSignal,
  takesSignals,
  logDrained,
  directoryAnswers,
  worldCanStop,
];
