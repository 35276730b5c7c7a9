import type { Evidence } from '../bundle/evidence.ts';
import type { Collector } from './collector.ts';
import { timeFor } from './evidence-of.ts';
import { HANGING_CMDLINES, NODE_THREADS } from './sweep.ts';

const COLUMNS = 'pid,tid,ppid,stat,wchan:32,etime,args';
/** Of each row: ps repeats a long command line below every thread, which node/processes.txt has whole, and once. */
const WIDTH = '1024';

/**
 * Of 5,000 threads ps takes as much CPU as all else that a loop of the shell would read, on a node that is short of it. Above
 * this it is asked for processes alone: what it can say against the sweep it says of them.
 */
const MOST_THREADS = 2000;

/** That ps hangs is worth one process of ours which hangs with it, where there are not several already. */
const MOST_HANGING = 4;

/**
 * `node/ps.txt`: what ps itself says, as a cross-check of node/processes.txt; every thread, or on a large node every process.
 * It reads every cmdline and so hangs on a process whose mmap lock is held by a stalled page fault: that outcome, `timeout`,
 * is evidence too.
 */
export const ps: Collector = {
  name: 'ps',
  phase: 'ask',
  deadlineMs: 4000,
  async *collect(capture) {
    const hanging = Number(capture.notes.get(HANGING_CMDLINES) ?? 0);
    const few = Number(capture.notes.get(NODE_THREADS) ?? 0) <= MOST_THREADS;
    const argv = ['ps', few ? '-eLo' : '-eo', COLUMNS, '--cols', WIDTH];
    if (hanging >= MOST_HANGING) {
      yield notRun(argv, `not run: ${hanging} command lines hang, and it would hang in the first of them`);
      return;
    }
    const timeoutMs = timeFor(capture, 3000);
    const result = await capture.host.run({ argv, timeoutMs, maxBytes: 16 << 20, signal: capture.signal });
    const said = result.stderr.toString().trim();
    const exit = result.exitCode === null ? 'no exit code' : `exit code ${result.exitCode}`;
    const strange = result.exitCode !== 0 && /^ps: (?:invalid|unrecognized|unknown) option/m.test(said);
    const detail = strange
      ? 'the ps of this node knows no threads (busybox)'
      : [result.detail, said].filter(Boolean).join('; ');
    yield {
      path: 'node/ps.txt',
      source: `${argv.join(' ')} (${exit}, ${Math.round(result.durationMs)} ms)`,
      outcome: strange ? 'absent' : result.outcome,
      body: result.stdout,
      ...(detail === '' ? {} : { detail }),
      at: { offsetMs: result.offsetMs, durationMs: result.durationMs },
    };
  },
};

function notRun(argv: readonly string[], detail: string): Evidence {
  return { path: 'node/ps.txt', source: argv.join(' '), outcome: 'timeout', body: Buffer.alloc(0), detail };
}
