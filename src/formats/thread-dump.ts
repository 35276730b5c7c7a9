/**
 * The layout of shim/threads-*.txt and node/blocked.txt: one block per thread, as the field's runbooks print it, with
 * the name, state, wait channel and age in the heading.
 *
 *     # process 2623 containerd-shim
 *     ===== 2630 containerd-shim D wb_wait_for_completion blocked for 20.2 =====
 *     166 0xc000300120 0x0 …
 *     [<0>] wb_wait_for_completion+0x81/0xb0
 *
 * Columns never shift: white space and `=` inside a name are escaped (`tmux:\x20server`), and what could not be read is
 * `?` in the heading and `(file: errno)` below it. `parseThreadDump` undoes all of it.
 */
import type { ProcessLook, ThreadLook } from '../host/port.ts';
import { escapeColumn, escapeLine, unescapeLine } from './escape.ts';
import { blockedForSeconds, type CpuClock, type CpuClocks, NO_CLOCKS } from './proc/cpu-clocks.ts';
import { parseStat } from './proc/stat.ts';

/** One thread, as a block says it. */
export interface DumpedThread {
  /** From the `# process` line above; null where there is none. */
  readonly pid: number | null;
  readonly tid: number;
  readonly comm: string | null;
  readonly state: string | null;
  /** As read: `0` is a kernel without wait channels, a thread that runs, or a reader without the right. */
  readonly wchan: string | null;
  /** Seconds, to a tenth. */
  readonly blockedForSeconds: number | null;
  /** Text of the syscall file, without its line end. */
  readonly syscall: string | null;
  /** Lines of the stack file; empty for a thread that was running; null when it could not be read. */
  readonly stack: readonly string[] | null;
  /** What could not be read, and why: 'stack' -> 'EACCES'. */
  readonly errors: Readonly<Record<string, string>>;
  /** Line of the heading in the text, from 1: for citations. */
  readonly line: number;
}

/** One process, as its line says it. */
export interface DumpedProcess {
  readonly pid: number;
  readonly comm: string | null;
  /** `ok`, or why its threads are missing or not all there. */
  readonly outcome: string;
  readonly detail: string | null;
  readonly line: number;
}

export interface ThreadDump {
  readonly processes: readonly DumpedProcess[];
  readonly threads: readonly DumpedThread[];
  /** Lines that belong to no block, as they stand. */
  readonly unknown: readonly string[];
}

const NOT_READ = 'not read';

/** `?` is kept for what could not be read, so a name that is really `?` is written as an escape. */
const column = (text: string | null) => (text === null ? '?' : text === '?' ? '\\x3f' : escapeColumn(text));

/** A line below a heading. It must not look like a heading, a note, or a process line; its first character is escaped if so. */
function bodyLine(text: string): string {
  const line = escapeLine(text);
  const first = line.charCodeAt(0);
  return first === 0x3d || first === 0x28 || first === 0x23 ? `\\x${first.toString(16)}${line.slice(1)}` : line;
}

const note = (file: string, why: string) => `(${escapeColumn(file)}: ${escapeLine(why)})`;

/**
 * One thread's block, ended by one line end and no blank line: heading, syscall line or a note, stack lines or a note,
 * then notes on other files. Without the clock of the thread's CPU there is no `blocked for` (proc/cpu-clocks.ts).
 * Not said: that the kernel has no `sched` file (ENOENT), which the missing `blocked for` tells already.
 */
export function threadBlock(look: ThreadLook, own: CpuClock | null, clocks: CpuClocks = NO_CLOCKS): string {
  const stat = look.stat === null ? null : parseStat(look.stat);
  const blocked = blockedForSeconds(look, own, clocks);
  const age = blocked === null ? '' : ` blocked for ${blocked.toFixed(1)}`;
  const wchan = look.wchan === null ? null : look.wchan.trim();
  const lines = [
    `===== ${look.tid} ${column(stat?.comm ?? null)} ${column(stat?.state ?? null)} ${column(wchan)}${age} =====`,
  ];
  const syscall = look.syscall?.trim() ?? '';
  lines.push(
    syscall === ''
      ? note('syscall', look.errors['syscall'] ?? (look.syscall === null ? NOT_READ : 'empty'))
      : bodyLine(syscall),
  );
  if (look.stack === null) lines.push(note('stack', look.errors['stack'] ?? NOT_READ));
  else for (const line of look.stack.split('\n')) if (line !== '') lines.push(bodyLine(line));
  if (stat === null)
    lines.push(note('stat', look.errors['stat'] ?? (look.stat === null ? NOT_READ : 'not understood')));
  if (look.wchan === null) lines.push(note('wchan', look.errors['wchan'] ?? NOT_READ));
  for (const [file, why] of Object.entries(look.errors)) {
    const saidAbove = file === 'syscall' || file === 'stack' || file === 'stat' || file === 'wchan';
    if (!saidAbove && !(file === 'sched' && why === 'ENOENT')) lines.push(note(file, why));
  }
  return `${lines.join('\n')}\n`;
}

/** The line that names a process, and the blocks of its threads. A process that could not be read whole says why. */
export function processBlocks(look: ProcessLook, clocks: CpuClocks = NO_CLOCKS): string {
  return processLine(look) + look.threads.map(thread => threadBlock(thread, look.clock, clocks)).join('');
}

/** The line above the blocks of a process's threads, for those that come one by one. */
export function processLine(look: Pick<ProcessLook, 'pid' | 'comm' | 'outcome' | 'detail'>): string {
  const detail = look.detail === undefined ? '' : ` (${escapeLine(look.detail)})`;
  const outcome = look.outcome === 'ok' ? '' : `: ${look.outcome}${detail}`;
  return `# process ${look.pid} ${column(look.comm?.trimEnd() ?? null)}${outcome}\n`;
}

const HEADING = /^===== (\d+) (\S+) (\S+) (\S+)(?: blocked for (\d+\.\d))? =====$/;
const PROCESS = /^# process (\d+) (\S+?)(?:: ([a-z]+)(?: \((.*)\))?)?$/;
const NOTE = /^\((\S+?): (.*)\)$/;

const uncolumn = (text: string) => (text === '?' ? null : unescapeLine(text));

/** Reads back what `threadBlock` and `processBlocks` wrote. A text cut anywhere gives the threads up to the cut. */
export function parseThreadDump(text: string): ThreadDump {
  const processes: DumpedProcess[] = [];
  const threads: DumpedThread[] = [];
  const unknown: string[] = [];
  let pid: number | null = null;
  let heading: Omit<DumpedThread, 'syscall' | 'stack' | 'errors'> | null = null;
  let syscall: string | null = null;
  let stack: string[] = [];
  let errors = new Map<string, string>();
  let bodyLines = 0;

  const finish = () => {
    if (heading === null) return;
    threads.push({
      ...heading,
      syscall,
      stack: errors.has('stack') ? null : stack,
      errors: Object.fromEntries(errors),
    });
    heading = null;
  };

  for (const [index, line] of text.split('\n').entries()) {
    const started = HEADING.exec(line);
    if (started !== null) {
      finish();
      const [, tid = '', comm = '', state = '', wchan = '', age] = started;
      heading = {
        pid,
        tid: Number(tid),
        comm: uncolumn(comm),
        state: uncolumn(state),
        wchan: uncolumn(wchan),
        blockedForSeconds: age === undefined ? null : Number(age),
        line: index + 1,
      };
      syscall = null;
      stack = [];
      errors = new Map();
      bodyLines = 0;
      continue;
    }
    const process = PROCESS.exec(line);
    if (process !== null) {
      finish();
      pid = Number(process[1]);
      processes.push({
        pid,
        comm: uncolumn(process[2] ?? ''),
        outcome: process[3] ?? 'ok',
        detail: process[4] === undefined ? null : unescapeLine(process[4]),
        line: index + 1,
      });
      continue;
    }
    if (line === '') continue;
    if (heading === null) {
      unknown.push(line);
      continue;
    }
    const missing = NOTE.exec(line);
    if (missing !== null) errors.set(unescapeLine(missing[1] ?? ''), unescapeLine(missing[2] ?? ''));
    else if (bodyLines === 0) syscall = unescapeLine(line);
    else stack.push(unescapeLine(line));
    bodyLines += 1;
  }
  finish();
  return { processes, threads, unknown };
}
