import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import {
  CRI_SERVICES,
  type CriAnswer,
  type CriQuestion,
  decodeAnswer,
  encodeQuestion,
} from '../../formats/cri/calls.ts';
import { UNIMPLEMENTED } from '../../formats/ttrpc/call.ts';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import { connectOutcomeOf } from '../outcome.ts';
import type { CriCall } from '../port.ts';

/** A call as the probe saw it. `startMs`: reading of the monotonic clock. */
export type ReadCriCall = Omit<CriCall, 'offsetMs'> & { readonly startMs: number };

/** crictl's own limit. */
const CALL_MS = 2000;
/** kubelet's limit for an answer; a list of a node's containers may be larger than grpc's own 4 MiB. */
const LARGEST_ANSWER = 16 << 20;

const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;

/**
 * Asks the runtime service at a socket, all questions at the same time. The first one tells which API it serves: v1 since
 * containerd 1.6, v1alpha2 before and until 1.7.
 *
 * @param untilMs reading of the monotonic clock
 * @param done called once for each question
 */
export async function askCri(
  socket: string,
  questions: readonly CriQuestion[],
  untilMs: number,
  done: (index: number, call: ReadCriCall) => void,
): Promise<void> {
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': LARGEST_ANSWER,
    // Asked once, and gone.
    'grpc.enable_channelz': 0,
    'grpc.enable_retries': 0,
    // An HTTP proxy of the environment is not for a unix socket.
    'grpc.enable_http_proxy': 0,
  });
  try {
    await Promise.all(
      questions.map(async (question, index) => {
        let call = await ask(client, CRI_SERVICES[0], question, untilMs);
        if (call.status?.code === UNIMPLEMENTED) call = await ask(client, CRI_SERVICES[1], question, untilMs);
        done(index, call);
      }),
    );
  } finally {
    client.close();
    // Closing takes turns of the event loop, and a probe that waits for its next request makes none.
    await new Promise(resolve => setImmediate(() => setImmediate(resolve)));
  }
}

async function ask(client: Client, service: string, question: CriQuestion, untilMs: number): Promise<ReadCriCall> {
  const startMs = monotonicMs();
  const timeoutMs = Math.min(CALL_MS, Math.max(1, untilMs - startMs));
  const answered = await unary(client, `/${service}/${question.method}`, encodeQuestion(question), timeoutMs);
  const call = { question, service, startMs, latencyMs: toMicroseconds(monotonicMs() - startMs) };
  if (Buffer.isBuffer(answered)) {
    const answer: CriAnswer | null = decodeAnswer(question.method, answered);
    if (answer === null) return { ...call, outcome: 'error', answer, detail: 'an answer that is none of this call' };
    return { ...call, outcome: 'ok', answer };
  }
  const { code, details } = answered;
  const failed = { ...call, answer: null, status: { code, message: details } };
  if (code === DEADLINE_EXCEEDED)
    return { ...failed, outcome: 'timeout', detail: `no answer within ${Math.round(timeoutMs)} ms` };
  if (code !== UNAVAILABLE) return { ...failed, outcome: 'error' };
  const refused = /EACCES|EPERM/.exec(details)?.[0];
  if (refused !== undefined) return { ...failed, outcome: 'denied', detail: connectOutcomeOf(refused, '').detail };
  return { ...failed, outcome: /ENOENT|ECONNREFUSED/.test(details) ? 'gone' : 'error' };
}

function unary(client: Client, path: string, request: Buffer, timeoutMs: number): Promise<Buffer | ServiceError> {
  const same = (bytes: Buffer) => bytes;
  return new Promise(resolve => {
    const options = { deadline: Date.now() + timeoutMs };
    client.makeUnaryRequest(path, same, same, request, new Metadata(), options, (error, answer) =>
      resolve(error ?? answer ?? Buffer.alloc(0)),
    );
  });
}
