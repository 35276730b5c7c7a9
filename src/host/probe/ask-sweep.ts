import { psHeader, psIdWidth } from '../../formats/ps.ts';
import { monotonicMs, timesSince } from '../clock.ts';
import type { Deadline, SweepRequest, SweepResult } from '../port.ts';
import { readText } from '../proc-file.ts';
import { ItemsJob } from './items-job.ts';
import type { ProbePool } from './pool.ts';
import type { SweepItem } from './protocol.ts';
import { isCmdline, type SweptProcess, sweepRequest } from './sweep-request.ts';

/** Every thread of the node. Processes that hang are named in `hung`, those that were not reached counted in `detail`. */
export async function askSweep(
  pool: ProbePool,
  pids: readonly number[],
  request: SweepRequest,
  deadline: Deadline,
): Promise<SweepResult> {
  const began = monotonicMs();
  const hung: { pid: number; file: string }[] = [];
  const kind = sweepRequest(request, (pid, file) => hung.push({ pid, file }));
  const job = new ItemsJob<SweepItem, SweptProcess>(
    kind,
    pids.map(pid => ({ pid })),
  );
  const cutShort = await pool.run(job, deadline);
  const swept = job.results.filter(result => result !== undefined);
  const missing = pids.length - swept.length;
  const notReached = missing === 0 ? [] : [`${missing} of ${pids.length} processes not reached: ${cutShort}`];
  const detail = [...notReached, ...sparedIn(pids, job.results, hung)].join('; ');
  const outcome = swept.length === 0 ? 'timeout' : missing > 0 || hung.length > 0 ? 'truncated' : 'ok';
  const header = psHeader(psIdWidth(readText('/proc/sys/kernel/pid_max').text ?? ''));
  const sum = (field: 'threads' | 'blockedThreads') => swept.reduce((total, one) => total + one[field], 0);
  return {
    outcome,
    ...(detail === '' ? {} : { detail }),
    processes: Buffer.concat([Buffer.from(header), ...swept.map(({ rows }) => rows)]),
    blocked: Buffer.concat(swept.map(({ blocked }) => blocked)),
    threadCount: sum('threads'),
    blockedCount: sum('blockedThreads'),
    hung,
    ...timesSince(began),
  };
}

/** What was left unread beyond those that hung themselves, in words. */
function sparedIn(
  pids: readonly number[],
  results: readonly (SweptProcess | undefined)[],
  hung: readonly { readonly pid: number; readonly file: string }[],
): readonly string[] {
  const own = new Set(hung.map(({ pid }) => pid));
  const count = (what: SweptProcess['spared']) =>
    pids.filter((pid, index) => results[index]?.spared === what && !own.has(pid)).length;
  const inArgs = hung.filter(({ file }) => isCmdline(file)).length;
  const [args, files] = [count('args'), count('files')];
  return [
    ...(args === 0 ? [] : [`${args} command lines ${notRead(inArgs)}`]),
    ...(files === 0 ? [] : [`of ${files} processes all but comm and status ${notRead(hung.length - inArgs)}`]),
  ];
}

const notRead = (hangs: number): string => `not read: ${hangs} probes already hang in this kind of read`;
