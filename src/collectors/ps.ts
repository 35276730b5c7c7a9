import type { Collector } from './collector.ts';

const ARGV = ['ps', '-eLo', 'pid,tid,ppid,stat,wchan:32,etime,args'] as const;

/**
 * `node/ps.txt`: what ps itself says, as a cross-check of node/processes.txt. It reads every cmdline and so hangs on a
 * process whose mmap lock is held by a stalled page fault: that outcome, `timeout`, is evidence too.
 */
export const ps: Collector = {
  name: 'ps',
  phase: 'ask',
  deadlineMs: 4000,
  async *collect(capture) {
    const timeoutMs = Math.min(3000, capture.remainingMs());
    const result = await capture.host.run({ argv: ARGV, timeoutMs, maxBytes: 16 << 20, signal: capture.signal });
    const said = result.stderr.toString().trim();
    const exit = result.exitCode === null ? 'no exit code' : `exit code ${result.exitCode}`;
    const detail = [result.detail, said].filter(Boolean).join('; ');
    yield {
      path: 'node/ps.txt',
      source: `${ARGV.join(' ')} (${exit}, ${Math.round(result.durationMs)} ms)`,
      outcome: result.outcome,
      body: result.stdout,
      ...(detail === '' ? {} : { detail }),
      at: { offsetMs: result.offsetMs, durationMs: result.durationMs },
    };
  },
};
