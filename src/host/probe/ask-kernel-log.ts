import type { Deadline, FileResult } from '../port.ts';
import type { Reading } from './files.ts';
import { toFileResult, unread } from './files-request.ts';
import type { ProbePool } from './pool.ts';
import { SingleJob } from './single-job.ts';

const PATH = '/dev/kmsg';

/** Host.kernelLog, by a probe. */
export async function askKernelLog(pool: ProbePool, maxBytes: number, deadline: Deadline): Promise<FileResult> {
  const job = new SingleJob({ op: 'kmsg', maxBytes }, PATH);
  const cutShort = await pool.run(job, deadline);
  const { answer } = job;
  if (answer === null) return unread(PATH, 'timeout', cutShort ?? '');
  if ('outcome' in answer) return unread(PATH, answer.outcome, answer.detail);
  return toFileResult(PATH, answer.result as Reading, answer.body);
}
