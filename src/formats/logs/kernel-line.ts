/**
 * Prefixes of kernel messages, as dmesg, pstore, the serial console and syslog print them: kernel kernel/printk/printk.c
 * info_print_prefix, util-linux sys-utils/dmesg.c.
 */
import { type Layer, levelOfSeverity } from './log-line.ts';
import { type LogContext, parseCtime, parseIsoTime } from './timestamp.ts';

/** `<4>` of raw records; `kern  :warn  : ` of dmesg -x. */
const PRIORITY = /^(?:<(\d{1,3})>|[a-z]{3,8} *:([a-z]{3,6}) *: )/;
const SECONDS = /^\[ *(\d{1,12}\.\d{6})\](?:\[ *([TC]\d+)\])? ?/;
/** Time since the message before: dmesg -e prints `[  +0.000011]`, dmesg -d `[<    0.000011>]`. */
const DELTA = /^\[(?: *\+|< *)\d{1,12}\.\d{6}>?\] ?/;
const WALL = /^\[([^\]]{20,40})\] ?/;
const ISO = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}[+-]\d\d:\d\d) /;

const WORDS: Readonly<Record<string, number>> = {
  emerg: 0,
  alert: 1,
  crit: 2,
  err: 3,
  warn: 4,
  notice: 5,
  info: 6,
  debug: 7,
};

/** Null for a line with no such prefix. Field `monotonic`: seconds since boot as printed; `caller`: `T58` a task, `C0` a CPU. */
export function parseKernelLine(line: string, context: LogContext): Layer | null {
  const priority = PRIORITY.exec(line);
  const rest = line.slice(priority?.[0].length ?? 0);
  const severity = priority === null ? null : (WORDS[priority[2] ?? ''] ?? Number(priority[1]) % 8);
  const level = severity === null ? null : levelOfSeverity(severity);

  const [secondsHead, seconds, caller] = SECONDS.exec(rest) ?? [];
  if (secondsHead !== undefined && seconds !== undefined) {
    const fields = new Map([['monotonic', seconds]]);
    if (caller !== undefined) fields.set('caller', caller);
    const { bootedAt } = context;
    const time = bootedAt === undefined ? null : bootedAt + Number(seconds) * 1000;
    return { format: 'kernel', program: 'kernel', time, level, message: rest.slice(secondsHead.length), fields };
  }
  const delta = DELTA.exec(rest);
  if (delta !== null) return { format: 'kernel', program: 'kernel', level, message: rest.slice(delta[0].length) };
  const [wallHead, wall = ''] = WALL.exec(rest) ?? [];
  if (wallHead !== undefined && / \d{4}$/.test(wall)) {
    const time = parseCtime(wall, context);
    return { format: 'kernel', program: 'kernel', time, level, message: rest.slice(wallHead.length) };
  }
  const [isoHead, iso] = ISO.exec(rest) ?? [];
  if (isoHead !== undefined && iso !== undefined) {
    const time = parseIsoTime(iso, context);
    return { format: 'kernel', program: 'kernel', time, level, message: rest.slice(isoHead.length) };
  }
  return null;
}
