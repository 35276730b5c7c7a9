import { offsetMs } from '../clock.ts';
import type { Deadline, Usage, UsageResult } from '../port.ts';
import type { ProbePool } from './pool.ts';
import { SingleJob } from './single-job.ts';

/** Host.usage, by a probe. */
export async function askUsage(
  pool: ProbePool,
  pids: readonly number[],
  pauseMs: number,
  deadline: Deadline,
): Promise<UsageResult> {
  const startMs = offsetMs();
  const job = new SingleJob({ op: 'usage', pids, pauseMs }, `usage of ${pids.join(', ')}`);
  const cutShort = await pool.run(job, deadline);
  const times = { offsetMs: startMs, durationMs: offsetMs() - startMs };
  const { answer } = job;
  if (answer === null) return { outcome: 'timeout', detail: cutShort ?? '', usages: [], ...times };
  if ('outcome' in answer) return { outcome: answer.outcome, detail: answer.detail, usages: [], ...times };
  return { outcome: 'ok', usages: answer.result as readonly Usage[], ...times };
}
