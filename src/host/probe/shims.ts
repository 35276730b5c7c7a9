import { NOT_FOUND, UNIMPLEMENTED } from '../../formats/ttrpc/call.ts';
import {
  connectMethod,
  decodeConnect,
  decodeState,
  encodeConnect,
  encodeState,
  TASK_SERVICES,
  type TaskApi,
} from '../../formats/ttrpc/task.ts';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import type { ShimCall, ShimQuestion } from '../port.ts';
import { type Reply, TtrpcConnection } from './ttrpc-connection.ts';

/** A call as the probe saw it. `startMs`: reading of the monotonic clock. */
export type ReadCall = Omit<ShimCall, 'offsetMs'> & { readonly startMs: number };

/** containerd's own limit for State (io.containerd.timeout.task.state), so an answer that it would have had is had here. */
const CALL_MS = 2000;
const ALL_MS = 3000;

/**
 * Asks each shim Connect, and when that is answered State of its containers; all of it at the same time.
 *
 * @param untilMs reading of the monotonic clock
 * @param done called once for each question
 */
export async function askShims(
  questions: readonly ShimQuestion[],
  untilMs: number,
  done: (index: number, calls: readonly ReadCall[]) => void,
): Promise<void> {
  const endMs = Math.min(untilMs, monotonicMs() + ALL_MS);
  await Promise.all(questions.map(async (question, index) => done(index, await askShim(question, endMs))));
}

async function askShim(question: ShimQuestion, endMs: number): Promise<readonly ReadCall[]> {
  const connection = new TtrpcConnection(question.socket, question.prefix);
  try {
    const connects: ReadCall[] = [];
    for (const api of question.apis) {
      const connect = await connectTo(connection, question, api, endMs);
      connects.push(connect);
      if (connect.outcome === 'ok')
        return [...connects, ...(await Promise.all(statesOf(connection, question, api, endMs)))];
      if (!isUnserved(connect)) break;
    }
    const [first] = question.apis;
    return [...connects, ...question.containers.map(container => notAsked(container, first ?? 'v2', connects.at(-1)))];
  } finally {
    connection.close();
  }
}

/** Takes no lock of a container, so it is the one call that is always safe; of an unknown id too it names the shim's pid. */
async function connectTo(
  connection: TtrpcConnection,
  { id, namespace }: ShimQuestion,
  api: TaskApi,
  endMs: number,
): Promise<ReadCall> {
  const call = connectMethod(api);
  const request = { service: TASK_SERVICES[api], method: call, payload: encodeConnect(api, id), namespace };
  return made(
    { call, container: null, service: request.service },
    decodeConnect,
    await timed(connection, request, endMs),
  );
}

/** Each container once: State of one whose Delete hangs waits for as long, and leaves a goroutine in the shim until then. */
function statesOf(
  connection: TtrpcConnection,
  { containers, namespace }: ShimQuestion,
  api: TaskApi,
  endMs: number,
): readonly Promise<ReadCall>[] {
  const service = TASK_SERVICES[api];
  return containers.map(async container => {
    const request = { service, method: 'State', payload: encodeState(container), namespace };
    return made({ call: 'State', container, service }, decodeState, await timed(connection, request, endMs));
  });
}

type Timed = Reply & Pick<ReadCall, 'startMs' | 'latencyMs'>;

async function timed(
  connection: TtrpcConnection,
  request: Parameters<TtrpcConnection['call']>[0],
  endMs: number,
): Promise<Timed> {
  const startMs = monotonicMs();
  const reply = await connection.call(request, Math.min(CALL_MS, Math.max(1, endMs - startMs)));
  return { ...reply, startMs, latencyMs: toMicroseconds(monotonicMs() - startMs) };
}

function made(
  what: Pick<ReadCall, 'call' | 'container' | 'service'>,
  decode: (payload: Buffer) => ReadCall['answer'],
  { startMs, latencyMs, ...reply }: Timed,
): ReadCall {
  const call = { ...what, startMs, latencyMs };
  if (reply.outcome !== 'answered') return { ...call, ...reply, answer: null };
  const { response } = reply;
  if (response.kind === 'status') {
    const { code, message } = response;
    return { ...call, outcome: 'error', answer: null, status: { code, message } };
  }
  const answer = decode(response.payload);
  if (answer === null) return { ...call, outcome: 'error', answer, detail: 'an answer that is none of this call' };
  return { ...call, outcome: 'ok', answer };
}

/** ttrpc up to 1.0 says 5 for a service that is not there, later ones 12. */
function isUnserved({ status }: ReadCall): boolean {
  return status?.code === UNIMPLEMENTED || status?.code === NOT_FOUND;
}

function notAsked(container: string, api: TaskApi, connect: ReadCall | undefined): ReadCall {
  const call = { call: 'State', container, service: TASK_SERVICES[api], answer: null } as const;
  const detail = `${connect?.call ?? 'Connect'} had no answer: ${connect?.outcome ?? 'not asked'}`;
  return { ...call, outcome: 'not-asked', startMs: monotonicMs(), latencyMs: 0, detail };
}
