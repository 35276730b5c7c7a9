import { connectMethod, TASK_SERVICES } from '../../formats/ttrpc/task.ts';
import { monotonicMs, offsetMs } from '../clock.ts';
import type { Deadline, ShimCall, ShimQuestion } from '../port.ts';
import type { ProbePool } from './pool.ts';
import type { ReadCall } from './shims.ts';
import { SingleJob } from './single-job.ts';

/** Before the deadline, for the probe to say what it has. */
const MARGIN_MS = 200;

interface Answered {
  readonly index: number;
  readonly calls: readonly ReadCall[];
}

/** Asks them all in one probe. Connecting looks up a path, which can hang as any other: what was answered by then counts. */
export async function askShims(
  pool: ProbePool,
  questions: readonly ShimQuestion[],
  { deadlineMs, signal }: Deadline,
): Promise<readonly (readonly ShimCall[])[]> {
  if (questions.length === 0) return [];
  const began = monotonicMs();
  const answered = new Map<number, readonly ShimCall[]>();
  const item = questions.map(({ socket }) => socket).join(', ');
  const untilMs = began + deadlineMs - MARGIN_MS;
  const job = new SingleJob({ op: 'ask-shims', questions, untilMs }, item, 'sockets of shims', ({ header }) => {
    if (header.kind !== 'items') return;
    for (const { index, calls } of header.results as readonly Answered[])
      answered.set(
        index,
        calls.map(({ startMs, ...call }) => ({ ...call, offsetMs: offsetMs(startMs) })),
      );
  });
  const all = { deadlineMs, itemMs: Number.POSITIVE_INFINITY };
  const cutShort = await pool.run(job, signal === undefined ? all : { ...all, signal });
  const { answer } = job;
  const detail = answer !== null && 'outcome' in answer ? answer.detail : (cutShort ?? 'the probe did not say');
  return questions.map((question, index) => answered.get(index) ?? [unasked(question, offsetMs(began), detail)]);
}

function unasked({ apis: [api = 'v2'] }: ShimQuestion, startMs: number, detail: string): ShimCall {
  const call = { call: connectMethod(api), container: null, service: TASK_SERVICES[api] };
  return { ...call, outcome: 'timeout', offsetMs: startMs, latencyMs: offsetMs() - startMs, answer: null, detail };
}
