/**
 * Rows as `ps -eLo pid,tid,ppid,stat,wchan:32,etime,args` of procps-ng 4 prints them into a pipe, from the files that it
 * reads (procps src/ps/output.c, library/readproc.c, library/wchan.c).
 */

/** What a row shows. `args` and `wchan` are ready to print: see `psArgs` and `psWchan`. */
export interface PsFields {
  readonly pid: number;
  readonly tid: number;
  readonly ppid: number;
  readonly stat: string;
  readonly wchan: string;
  readonly etime: string;
  readonly args: string;
}

/** Width of the three columns of ids: the digits of the largest pid (/proc/sys/kernel/pid_max), 5 at least. */
export function psIdWidth(pidMax: string): number {
  const largest = Number(pidMax) - 1;
  return Math.max(5, String(Number.isFinite(largest) ? largest : 0).length);
}

export function psHeader(idWidth: number): string {
  const id = (name: string) => name.padStart(idWidth);
  return `${id('PID')} ${id('TID')} ${id('PPID')} STAT ${'WCHAN'.padEnd(32)}     ELAPSED COMMAND\n`;
}

/** One row with its line end. A column that is too wide pushes the next ones until padding has made up for it. */
export function psRow({ pid, tid, ppid, stat, wchan, etime, args }: PsFields, idWidth: number): string {
  const id = (value: number) => String(value).padStart(idWidth);
  let row = `${id(pid)} ${id(tid)} ${id(ppid)} ${stat.padEnd(4)} `;
  const late = row.length - (3 * idWidth + 8);
  row += wchan.padEnd(32 - late);
  const behind = row.length - (3 * idWidth + 40);
  return `${row} ${etime.padStart(11 - behind)} ${args}\n`;
}

/** From /proc/<pid>/task/<tid>/stat, but for the last one. */
export interface PsStateFields {
  /** One letter. */
  readonly state: string;
  readonly nice: number;
  readonly pid: number;
  readonly session: number;
  readonly pgrp: number;
  readonly tpgid: number;
  /** Threads of the process. */
  readonly threads: number;
  /** VmLck of /proc/<pid>/status is not 0. */
  readonly locked: boolean;
}

/** STAT: state, `<` or `N` by nice, `L` locked pages, `s` session leader, `l` more threads, `+` foreground. */
export function psState({ state, nice, pid, session, pgrp, tpgid, threads, locked }: PsStateFields): string {
  const priority = nice < 0 ? '<' : nice > 0 ? 'N' : '';
  return `${state}${priority}${locked ? 'L' : ''}${session === pid ? 's' : ''}${threads > 1 ? 'l' : ''}${pgrp === tpgid ? '+' : ''}`;
}

/** WCHAN from the text of the file: `-` for 0 (it runs), `?` for nothing; leading `.` and `_` are not shown. */
export function psWchan(wchan: string | null): string {
  if (wchan === null || wchan === '') return '?';
  if (wchan === '0') return '-';
  return wchan.replace(/^\.?_*/, '').slice(0, 32);
}

/** ELAPSED, `[[dd-]hh:]mm:ss`, from seconds; a start that lies ahead of the clock counts as now. */
export function psElapsed(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const s = Math.max(0, Math.floor(seconds));
  const days = Math.floor(s / 86_400);
  const hours = Math.floor(s / 3600) % 24;
  const clock = `${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  if (days > 0) return `${days}-${two(hours)}:${clock}`;
  return hours > 0 ? `${two(hours)}:${clock}` : clock;
}

/**
 * COMMAND: the arguments of a cmdline, or the name in brackets where there are none; `<defunct>` for a zombie. More than
 * `most` characters are cut, and the row says how many are left out.
 */
export function psArgs(cmdline: string | null, comm: string, state: string, most = Number.POSITIVE_INFINITY): string {
  if (state === 'Z') return `[${shown(comm)}] <defunct>`;
  const args = withoutLastNuls(cmdline ?? '');
  if (args === '') return `[${shown(comm)}]`;
  const left = args.length - most;
  return shown(args.slice(0, most).replace(SEPARATORS, ' ')) + (left > 0 ? ` [... ${left} more characters]` : '');
}

/**
 * Arguments end in a NUL each; a process that wrote over them (setproctitle) leaves many at the end. Not by a pattern, which
 * would try each NUL of two million once more.
 */
function withoutLastNuls(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0) end--;
  return text.slice(0, end);
}

/** What ps shows as a space: the end of an argument, and a line end within one (a script given to `sh -c`). */
const SEPARATORS = /[\0\n]/g;

/** What a terminal could take for more than text is shown as `?`, which is what ps does in a UTF-8 locale. */
function shown(text: string): string {
  return UNPRINTABLE.test(text) ? text.replace(ALL_UNPRINTABLE, '?') : text;
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd-\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ALL_UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd-\uffff]/g;
