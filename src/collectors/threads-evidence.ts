import type { Evidence } from '../bundle/evidence.ts';
import { type CpuClocks, NO_CLOCKS } from '../formats/proc/cpu-clocks.ts';
import { parseStat } from '../formats/proc/stat.ts';
import { processBlocks } from '../formats/thread-dump.ts';
import type { ProcessLook } from '../host/port.ts';

/**
 * One or more processes' threads as one entry of the bundle, in the layout of formats/thread-dump.ts. What is worst
 * among the processes decides the outcome; each of them says its own in the text.
 */
export function threadsEvidence(path: string, looks: readonly ProcessLook[], clocks: CpuClocks = NO_CLOCKS): Evidence {
  const gaps = looks.map(look => ({ pid: look.pid, ...gapOf(look) })).filter(gap => gap.outcome !== 'ok');
  const worst = gaps.find(gap => gap.outcome !== 'gone' && gap.outcome !== 'absent') ?? gaps[0];
  const startMs = Math.min(...looks.map(look => look.offsetMs));
  const endMs = Math.max(...looks.map(look => look.offsetMs + look.durationMs));
  return {
    path,
    source: looks.map(look => `/proc/${look.pid}/task/*/{stat,wchan,sched,syscall,stack}`).join(' '),
    outcome: worst?.outcome ?? (looks.length === 0 ? 'empty' : 'ok'),
    body: Buffer.from(looks.map(look => processBlocks(look, clocks)).join('')),
    ...(worst === undefined ? {} : { detail: gaps.map(gap => `${gap.pid}: ${gap.detail}`).join('; ') }),
    ...(looks.length === 0 ? {} : { at: { offsetMs: startMs, durationMs: endMs - startMs } }),
  };
}

/** A look at a pid that by now belongs to somebody else is no look at the process that was meant. */
export function sameProcess(look: ProcessLook, startTicks: string | null): ProcessLook {
  const now = look.stat === null ? null : (parseStat(look.stat)?.startTicks ?? null);
  if (startTicks === null || now === null || now === startTicks) return look;
  const detail = `pid ${look.pid} belongs to another process: it started at tick ${now}, the one meant at ${startTicks}`;
  return { ...look, threads: [], outcome: 'gone', detail };
}

/** A process of which only zombies are left has ended; it is there until somebody waits for it, which a busy pid 1 may not do soon. */
export function unlessEnded(look: ProcessLook): ProcessLook {
  const states = look.threads.map(({ stat }) => (stat === null ? null : (parseStat(stat)?.state ?? null)));
  if (look.outcome !== 'ok' || states.length === 0) return look;
  if (!states.every(state => state === null || state === 'Z' || state === 'X')) return look;
  return { ...look, outcome: 'gone', detail: 'it has ended, and nobody has waited for it yet (a zombie)' };
}

type Gap = Pick<Required<Evidence>, 'outcome' | 'detail'>;

/** Is everything there that a look at a process should bring? */
function gapOf(look: ProcessLook): Gap {
  if (look.outcome !== 'ok') return { outcome: look.outcome, detail: look.detail ?? look.outcome };
  const alive = look.threads.filter(thread => thread.stat !== null);
  if (alive.length === 0) return { outcome: 'gone', detail: 'no thread could be read' };
  // fs/proc/base.c: whoever may ptrace the task may read its syscall file. The look itself has judged the stack.
  if (alive.some(thread => /^E(PERM|ACCES)$/.test(thread.errors['syscall'] ?? '')))
    return { outcome: 'denied', detail: 'syscall needs CAP_SYS_PTRACE over this task' };
  if (alive.every(thread => thread.errors['stack'] === 'ENOENT'))
    return {
      outcome: 'absent',
      detail: 'this kernel has no /proc/<pid>/task/<tid>/stack (built without CONFIG_STACKTRACE)',
    };
  return { outcome: 'ok', detail: '' };
}
