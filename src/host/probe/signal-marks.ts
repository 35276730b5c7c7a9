import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { monotonicMs } from '../clock.ts';
import { errnoOf } from '../outcome.ts';
import type { SignalMark, SignalMarked } from '../port.ts';

/** Where runs leave word for each other. In memory on every node with systemd, and empty after a boot. */
const PLACE = '/run/stallcap';

/**
 * One file per process that is signalled, a line for each mark. Lines are appended whole (O_APPEND), so all runs see them in
 * one order, and each can tell by itself whose claim came first: no lock that a run which was killed could leave behind.
 */
export function markSignal(mark: SignalMark, place: string = PLACE): SignalMarked {
  const path = join(place, nameOf(mark.pid, mark.startTicks));
  try {
    makePlace(place);
    removeForgotten(place);
    const own = { atMs: monotonicMs(), by: mark.by, what: mark.what };
    append(path, lineOf(own));
    if (mark.what !== 'claim') return { outcome: 'ours' };
    return judge(readFileSync(path, 'latin1').split('\n').flatMap(markIn), own, mark.windowMs);
  } catch (error) {
    return { outcome: 'unknown', detail: `${path}: ${errnoOf(error)}` };
  }
}

function append(path: string, line: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const fd = openSync(path, flags, 0o600);
  try {
    writeSync(fd, line);
  } finally {
    closeSync(fd);
  }
}

interface Mark {
  /** Reading of the monotonic clock, which all processes of the node share. */
  readonly atMs: number;
  readonly by: number;
  readonly what: SignalMark['what'];
}

/** From first to last: a claim stands unless another run's claim, or its signal, is younger than the window. */
function judge(marks: readonly Mark[], own: Mark, windowMs: number): SignalMarked {
  const held = marks
    .slice(0, marks.findIndex(mark => mark.atMs === own.atMs && mark.by === own.by) + 1)
    // A mark of the future is of an earlier boot, on a node whose /run is on a disk.
    .filter(mark => mark.atMs <= own.atMs)
    .reduce<Mark | null>((before, mark) => heldAfter(before, mark, windowMs), null);
  if (held === null) return { outcome: 'unknown', detail: 'the mark is not where it was written' };
  if (held.by === own.by) return { outcome: 'ours' };
  const seconds = ((own.atMs - held.atMs) / 1000).toFixed(1);
  const done = held.what === 'sent' ? 'signalled' : 'about to be signalled';
  return { outcome: 'taken', detail: `${done} by stallcap ${held.by}, ${seconds} s ago` };
}

/** Whose mark counts after this one. */
function heldAfter(before: Mark | null, mark: Mark, windowMs: number): Mark | null {
  if (mark.what === 'free') return before?.by === mark.by ? null : before;
  const gives = before !== null && before.by !== mark.by && mark.atMs - before.atMs < windowMs;
  return mark.what !== 'again' && gives ? before : mark;
}

const lineOf = ({ atMs, by, what }: Mark): string => `${atMs} ${by} ${what}\n`;

function markIn(line: string): readonly Mark[] {
  const [, atMs, by, what] = /^(\d+(?:\.\d+)?) (\d+) (claim|again|sent|free)$/.exec(line) ?? [];
  return what === undefined ? [] : [{ atMs: Number(atMs), by: Number(by), what: what as Mark['what'] }];
}

/** Ours alone: in a directory that others may write to, others could forbid a signal. */
function makePlace(place: string): void {
  try {
    mkdirSync(place, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  const { mode, uid } = lstatSync(place);
  const isOurs = (mode & constants.S_IFMT) === constants.S_IFDIR && uid === process.geteuid?.() && (mode & 0o022) === 0;
  if (!isOurs) throw new Error('is not a directory of ours alone');
}

const PREFIX = 'signalled-';
const nameOf = (pid: number, startTicks: string): string => `${PREFIX}${pid}-${startTicks}`;

/** Marks of processes that are gone: nobody will ask for them again. */
function removeForgotten(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-\\d+$`).exec(name)?.[1];
    if (pid === undefined || lstatSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      unlinkSync(join(place, name));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
}
