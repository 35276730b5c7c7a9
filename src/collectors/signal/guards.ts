import type { SignalRecord } from '../../bundle/signal-record.ts';
import { parseStat } from '../../formats/proc/stat.ts';
import { catches, parseStatus, SIGUSR1 } from '../../formats/proc/status.ts';
import type { Architecture } from '../../formats/proc/syscall-names.ts';
import { splitCmdline } from '../../formats/runtime/flags.ts';
import type { FileResult, ProcessLook } from '../../host/port.ts';
import type { Shim } from '../../sandbox/types.ts';
import { isShimLog } from './log-fifo.ts';
import { whyNoServer } from './server-argv.ts';
import { threadStates, whySignalWouldPend } from './thread-states.ts';
import { unstoppableThreads } from './unstoppable-threads.ts';

export type Read = Pick<FileResult, 'outcome' | 'body' | 'detail'>;

/** What the guards judge, all of it read immediately before the signal. */
export interface ShimReading {
  /** As it was when it was found. */
  readonly shim: Shim;
  /** Looks in a row, the last one just now. The first is alone unless it showed something that may pass by itself. */
  readonly looks: readonly [ProcessLook, ...ProcessLook[]];
  readonly exe: Read;
  readonly cmdline: Read;
  /** Link of descriptor 2. */
  readonly stderr: Read;
  /** Null: system calls have no names here. */
  readonly architecture: Architecture | null;
}

interface Judgement {
  readonly passed: boolean;
  /** What was read. */
  readonly saw: string;
}

/** What most guards need of any process that is to be signalled. */
export type Looked = Pick<ShimReading, 'looks' | 'architecture'>;

export interface Guard<Reading = ShimReading> {
  readonly name: string;
  /** What --force-signal may override. */
  readonly forcible: boolean;
  judge(reading: Reading): Judgement;
}

const text = (read: Read) => read.body.toString();
const last = (reading: Looked) => reading.looks.at(-1) ?? reading.looks[0];
const withoutDeleted = (link: string) => link.replace(/ \(deleted\)$/, '');

/** A pid may belong to somebody else by now, and a process may have become another program. */
const sameProcess: Guard = {
  name: 'same process',
  forcible: false,
  judge(reading) {
    const look = last(reading);
    const stat = look.stat === null ? null : parseStat(look.stat);
    if (stat === null) return { passed: false, saw: `it could not be looked at: ${look.detail ?? look.outcome}` };
    if (stat.state === 'Z' || stat.state === 'X') return { passed: false, saw: `it is dead (state ${stat.state})` };
    if (stat.startTicks !== reading.shim.startTicks)
      return { passed: false, saw: `started at tick ${stat.startTicks}, the shim at ${reading.shim.startTicks}` };
    if (reading.exe.outcome !== 'ok')
      return { passed: false, saw: `its exe link could not be read: ${reading.exe.detail ?? reading.exe.outcome}` };
    // An upgrade unlinks the binary under a running shim: the same process, ` (deleted)` behind the same path.
    const exe = withoutDeleted(text(reading.exe));
    const expected = reading.shim.exe === null ? null : withoutDeleted(reading.shim.exe);
    const same = expected === null ? /\/(docker-)?containerd-shim[^/]*$/.test(exe) : exe === expected;
    const saw = `start tick ${stat.startTicks}, exe ${exe}`;
    return same ? { passed: true, saw } : { passed: false, saw: `${saw}, found before as ${expected ?? 'a shim'}` };
  },
};

/** The short-lived helpers `start` and `delete` are the same program. */
const shimServer: Guard = {
  name: 'shim server',
  forcible: false,
  judge({ shim, cmdline, stderr }) {
    if (cmdline.outcome === 'timeout') {
      // The cmdline of a process whose mmap lock is held hangs. The fifo as descriptor 2 tells the server, too.
      const target = text(stderr);
      const saw = `cmdline hangs, descriptor 2 is ${target || stderr.outcome}`;
      return { passed: stderr.outcome === 'ok' && isShimLog(target, shim), saw };
    }
    if (cmdline.outcome !== 'ok') return { passed: false, saw: `cmdline: ${cmdline.detail ?? cmdline.outcome}` };
    const argv = splitCmdline(cmdline.body);
    const why = whyNoServer(argv);
    return why === null ? { passed: true, saw: argv.join(' ') } : { passed: false, saw: why };
  },
};

/** Without a handler SIGUSR1 kills: the Rust shims, among them kata's runtime-rs under the Go shim's very name. */
export const handlesSignal: Guard<Looked> = {
  name: 'handles SIGUSR1',
  forcible: false,
  judge(reading) {
    const status = last(reading).status;
    const parsed = status === null ? null : parseStatus(status);
    if (parsed === null || catches(parsed, SIGUSR1) === null) return { passed: false, saw: 'SigCgt could not be read' };
    const mask = `SigCgt ${parsed.fields.get('SigCgt')?.trim()}`;
    return catches(parsed, SIGUSR1)
      ? { passed: true, saw: mask }
      : { passed: false, saw: `${mask} lacks 0x200: the signal would kill it` };
  },
};

/** A signal to a stopped or frozen process waits, and goes off at some time when nobody expects it. */
export const takesSignals: Guard<Looked> = {
  name: 'not stopped or frozen',
  forcible: false,
  judge({ looks }) {
    const reasons = looks.map(whySignalWouldPend);
    const why = reasons.every(reason => reason !== null) ? reasons.at(-1) : null;
    return why ? { passed: false, saw: `${why}: the signal would stay pending` } : { passed: true, saw: 'it runs' };
  },
};

/**
 * The dump stops the world. A thread that hangs in a page fault, or in a call that the Go runtime makes for itself, cannot
 * join, and from then on no request to the shim is answered any more (seen on 1.6.20).
 */
export const worldCanStop: Guard<Looked> = {
  name: 'world can stop',
  forcible: true,
  judge({ looks, architecture }) {
    const held = unstoppableThreads(looks, architecture);
    if (held.length > 0) return { passed: false, saw: held.map(({ tid, why }) => `thread ${tid} ${why}`).join('; ') };
    const { length } = looks[0].threads;
    if (length === 0) return { passed: false, saw: 'none of its threads could be read' };
    const saw = `none of ${length} threads hangs in a page fault or in a call of the Go runtime itself`;
    const unread = threadStates(looks[0]).filter(({ call }) => call.kind === 'unknown').length;
    const doubt = unread === 0 ? '' : `; of ${unread} the system call could not be read, so their state alone says so`;
    return { passed: true, saw: saw + doubt };
  },
};

/** In the order in which they are recorded. The first one that fails decides. */
const GUARDS: readonly Guard[] = [sameProcess, shimServer, handlesSignal, takesSignals, worldCanStop];

export interface Verdict {
  readonly guards: SignalRecord['guards'];
  /** Name of the guard that refuses, with what it saw; null when the signal may be sent. */
  readonly refusal: string | null;
  /** Guards that failed and were overridden. */
  readonly overridden: readonly string[];
}

/** Whether SIGUSR1 may be sent to a shim. @param force overrides the guards that are forcible */
export function judge(reading: ShimReading, force: boolean): Verdict {
  return judgeBy(GUARDS, reading, force);
}

/** All guards, whether or not one before has failed: what each of them saw is evidence. */
export function judgeBy<Reading>(guards: readonly Guard<Reading>[], reading: Reading, force: boolean): Verdict {
  const judged = guards.map(guard => ({ guard, ...guard.judge(reading) }));
  const failed = judged.filter(({ passed }) => !passed);
  const overridden = failed.filter(({ guard }) => force && guard.forcible);
  const refusing = failed.find(({ guard }) => !(force && guard.forcible));
  return {
    guards: judged.map(({ guard, passed, saw }) => ({ guard: guard.name, passed, saw })),
    refusal: refusing === undefined ? null : `${refusing.guard.name}: ${refusing.saw}`,
    overridden: overridden.map(({ guard }) => guard.name),
  };
}
