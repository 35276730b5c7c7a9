import { CRI_SERVICES, type CriQuestion } from '../../formats/cri/calls.ts';
import { monotonicMs, offsetMs } from '../clock.ts';
import type { CriCall, Deadline } from '../port.ts';
import type { ReadCriCall } from './cri.ts';
import type { ProbePool } from './pool.ts';
import { SingleJob } from './single-job.ts';

/** Before the deadline, for the probe to say what it has. */
const MARGIN_MS = 200;

interface Answered {
  readonly index: number;
  readonly call: ReadCriCall;
}

/** Asks in a probe: what looks up the socket can hang, and grpc is not to be loaded by whoever has no use for it. */
export async function askCri(
  pool: ProbePool,
  socket: string,
  questions: readonly CriQuestion[],
  { deadlineMs, signal }: Deadline,
): Promise<readonly CriCall[]> {
  const began = monotonicMs();
  const answered = new Map<number, CriCall>();
  const untilMs = began + deadlineMs - MARGIN_MS;
  const job = new SingleJob({ op: 'ask-cri', socket, questions, untilMs }, socket, 'a CRI socket', ({ header }) => {
    if (header.kind !== 'items') return;
    for (const { index, call } of header.results as readonly Answered[]) {
      const { startMs, ...rest } = call;
      answered.set(index, { ...rest, offsetMs: offsetMs(startMs) });
    }
  });
  const all = { deadlineMs, itemMs: Number.POSITIVE_INFINITY };
  const cutShort = await pool.run(job, signal === undefined ? all : { ...all, signal });
  const { answer } = job;
  const detail = answer !== null && 'outcome' in answer ? answer.detail : (cutShort ?? 'the probe did not say');
  const unasked = { service: CRI_SERVICES[0], outcome: 'timeout', answer: null, detail } as const;
  const times = { offsetMs: offsetMs(began), latencyMs: offsetMs() - offsetMs(began) };
  return questions.map((question, index) => answered.get(index) ?? { question, ...unasked, ...times });
}
