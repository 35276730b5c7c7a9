import type { Deadline, SignalMark, SignalMarked } from '../port.ts';
import type { ProbePool } from './pool.ts';
import { SingleJob } from './single-job.ts';

/** Host.markSignal, by a probe: /run may hang as any directory. */
export async function askSignalMark(pool: ProbePool, mark: SignalMark, deadline: Deadline): Promise<SignalMarked> {
  const job = new SingleJob({ op: 'mark-signal', mark }, `mark of a signal to ${mark.pid}`);
  const cutShort = await pool.run(job, deadline);
  const { answer } = job;
  if (answer === null) return { outcome: 'unknown', detail: cutShort ?? 'no answer' };
  return 'outcome' in answer ? { outcome: 'unknown', detail: answer.detail } : (answer.result as SignalMarked);
}
