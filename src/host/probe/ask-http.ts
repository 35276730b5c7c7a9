import { monotonicMs, offsetMs } from '../clock.ts';
import type { Deadline, HttpCall } from '../port.ts';
import type { ReadHttpCall } from './http-get.ts';
import type { ProbePool } from './pool.ts';
import { SingleJob } from './single-job.ts';

/** Before the deadline, for the probe to say what it has. */
const MARGIN_MS = 200;

interface Answered {
  readonly index: number;
  readonly call: ReadHttpCall;
}

/** GETs paths in a probe, from the HTTP server at a unix socket. */
export async function askHttp(
  pool: ProbePool,
  socket: string,
  paths: readonly string[],
  { deadlineMs, signal }: Deadline,
): Promise<readonly HttpCall[]> {
  const began = monotonicMs();
  const answered = new Map<number, HttpCall>();
  const untilMs = began + deadlineMs - MARGIN_MS;
  const request = { op: 'ask-http', socket, paths, untilMs } as const;
  const job = new SingleJob(request, `${socket} ${paths.join(', ')}`, 'an HTTP socket', ({ header, body }) => {
    if (header.kind !== 'items') return;
    for (const { index, call } of header.results as readonly Answered[]) {
      const { startMs, ...rest } = call;
      answered.set(index, { ...rest, body: Buffer.from(body), offsetMs: offsetMs(startMs) });
    }
  });
  const all = { deadlineMs, itemMs: Number.POSITIVE_INFINITY };
  const cutShort = await pool.run(job, signal === undefined ? all : { ...all, signal });
  const { answer } = job;
  const detail = answer !== null && 'outcome' in answer ? answer.detail : (cutShort ?? 'the probe did not say');
  const unasked = { outcome: 'timeout', status: null, detail, body: Buffer.alloc(0) } as const;
  const times = { offsetMs: offsetMs(began), latencyMs: offsetMs() - offsetMs(began) };
  return paths.map((path, index) => answered.get(index) ?? { path, ...unasked, ...times });
}
