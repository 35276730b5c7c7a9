import { BEGIN, END, findDumps, type GoroutineDump } from '../../formats/goroutines/find-dumps.ts';

/** A dump that answers our signal. */
export interface OurDump {
  /** With real line ends. */
  readonly text: string;
  /** The log line as it was found, Go-quoted; several where something on the way has cut it. */
  readonly raw: string;
  readonly complete: boolean;
  /** `complete`, `truncated (at goroutine 96)`. */
  readonly verdict: string;
  readonly goroutines: number;
}

/**
 * The first dump of this shim that is not older than the signal. Other shims of the node write into the same log of
 * containerd, and somebody may have signalled this one before.
 *
 * @param shimPid as the shim itself knows it, in its own node
 * @param notBefore ISO 8601
 */
export function ourDump(log: string, shimPid: number, notBefore: string): OurDump | null {
  const since = Date.parse(notBefore);
  const stretch = dumpsOnly(log);
  const dumps = findDumps(stretch).filter(dump => isNotBefore(dump, since));
  // A line that was cut has lost its pid; one that names the shim is better.
  const ours = dumps.find(({ pid }) => pid === shimPid) ?? dumps.find(({ pid }) => pid === null);
  if (ours === undefined) return null;
  const { text, complete, verdict, goroutines } = ours;
  return { text, raw: rawLines(stretch, ours), complete, verdict, goroutines: goroutines.length };
}

/** What belongs to a dump may stand behind its END, in the next piece of a line that was cut: pid and namespace. */
const BEHIND_END = 64 * 1024;

/** From the line of the first dump on, to a little behind the last one's end: a log that is busy has megabytes of lines around. */
function dumpsOnly(log: string): string {
  const first = log.indexOf(BEGIN);
  if (first < 0) return '';
  const from = log.lastIndexOf('\n', first) + 1;
  const end = log.lastIndexOf(END);
  if (end < log.lastIndexOf(BEGIN)) return log.slice(from);
  const lineEnd = log.indexOf('\n', end + BEHIND_END);
  return log.slice(from, lineEnd < 0 ? log.length : lineEnd + 1);
}

/** v1 shims write no fraction of a second. */
function isNotBefore({ time }: GoroutineDump, since: number): boolean {
  return time === null || (time % 1000 === 0 ? time + 999 : time) >= since;
}

function rawLines(log: string, { logLine, logEnd }: GoroutineDump): string {
  return `${log
    .split('\n')
    .slice(logLine - 1, logEnd)
    .join('\n')
    .trimEnd()}\n`;
}

/** Whole before cut, more goroutines before fewer. */
export function better(found: OurDump | null, than: OurDump | null): found is OurDump {
  if (found === null || than === null) return found !== null;
  if (found.complete !== than.complete) return found.complete;
  return found.goroutines > than.goroutines;
}
