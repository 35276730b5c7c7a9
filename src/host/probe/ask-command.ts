import { monotonicMs, offsetMs, timesSince } from '../clock.ts';
import type { CommandRequest, CommandResult } from '../port.ts';
import type { CommandReading } from './commands.ts';
import type { ProbePool } from './pool.ts';
import { SingleJob } from './single-job.ts';

/** Beyond the time of the command, in which its probe ends it and sends what it said. */
const MARGIN_MS = 1000;

/** Runs a command in a probe. The probe's own timeout comes first; the one here ends what hangs in exec. */
export async function askCommand(pool: ProbePool, { signal, ...command }: CommandRequest): Promise<CommandResult> {
  const began = monotonicMs();
  const { argv, timeoutMs } = command;
  const job = new SingleJob({ op: 'run', command, untilMs: began + timeoutMs }, argv.join(' '));
  const deadline = { deadlineMs: timeoutMs + MARGIN_MS, itemMs: Number.POSITIVE_INFINITY };
  const cutShort = await pool.run(job, signal === undefined ? deadline : { ...deadline, signal });
  const { answer } = job;
  if (answer === null || 'outcome' in answer) {
    const nothing = { exitCode: null, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
    const why = answer ?? { outcome: 'timeout' as const, detail: cutShort ?? '' };
    return { argv, outcome: why.outcome, detail: why.detail, ...nothing, ...timesSince(began) };
  }
  const { startMs, stdoutBytes, stderrBytes, ...rest } = answer.result as CommandReading;
  return {
    argv,
    ...rest,
    stdout: answer.body.subarray(0, stdoutBytes),
    stderr: answer.body.subarray(stdoutBytes, stdoutBytes + stderrBytes),
    offsetMs: offsetMs(startMs),
  };
}
