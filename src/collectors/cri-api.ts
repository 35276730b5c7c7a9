import type { Evidence } from '../bundle/evidence.ts';
import type { CriAnswer, CriQuestion } from '../formats/cri/calls.ts';
import { NOT_FOUND } from '../formats/ttrpc/call.ts';
import { beliefOf, type View } from '../formats/views/view.ts';
import type { CriCall } from '../host/port.ts';
import { CRI_NAMESPACE } from '../sandbox/passive-views.ts';
import { timeOfNs, wallTime } from '../sandbox/wall-time.ts';
import type { Capture } from './collector.ts';
import { deadlineOf, spanOf } from './evidence-of.ts';
import { jsonLines } from './json-lines.ts';
import { leaveView } from './views/left-views.ts';

/** A pod with more containers than this is asked about its first ones; the list has them all. */
const MOST_STATUSES = 100;
const ALL_MS = 4000;

/**
 * runtime/cri.json: what CRI says over its own socket, for a node without crictl: the sandbox, its containers, and the status
 * of each, never verbose. All at the same time, so that one that hangs does not keep the others from answering.
 *
 * @param suffix added to the name of the entry when a node has more than one runtime
 */
export async function* criApi(capture: Capture, socket: string, suffix: string): AsyncGenerator<Evidence> {
  const { host } = capture;
  const calls = await host.askCri(socket, questionsOf(capture), deadlineOf(capture, ALL_MS));
  for (const call of calls) leaveAnswer(capture, call);
  const silent = calls.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'error');
  const worst = silent.length === calls.length ? silent[0] : undefined;
  const body = jsonLines(
    calls.map(({ question, offsetMs, ...rest }) => ({ ...question, at: wallTime(host, offsetMs), offsetMs, ...rest })),
  );
  yield {
    path: `runtime/cri${suffix}.json`,
    source: `unix://${socket}`,
    outcome: worst?.outcome ?? 'ok',
    body,
    at: spanOf(calls.map(({ offsetMs, latencyMs }) => ({ offsetMs, durationMs: latencyMs }))),
    ...(worst === undefined ? {} : { detail: worst.detail ?? worst.status?.message ?? worst.outcome }),
  };
}

function questionsOf({ target }: Capture): readonly CriQuestion[] {
  const all = { method: 'Version' } as const;
  const sandbox = target.kind === 'sandbox' && target.sandbox.namespace === CRI_NAMESPACE ? target.sandbox : null;
  const sandboxId = sandbox?.id ?? null;
  const statuses = (sandbox?.containers ?? []).slice(0, MOST_STATUSES).map(({ id, kind }): CriQuestion => {
    return { method: kind === 'sandbox' ? 'PodSandboxStatus' : 'ContainerStatus', id };
  });
  return [all, { method: 'ListPodSandbox', sandboxId }, { method: 'ListContainers', sandboxId }, ...statuses];
}

function leaveAnswer(capture: Capture, call: CriCall): void {
  const { question, outcome, answer, status, detail, offsetMs, latencyMs } = call;
  if (question.method !== 'PodSandboxStatus' && question.method !== 'ContainerStatus') return;
  const at = wallTime(capture.host, offsetMs + latencyMs);
  const said = { source: 'CRI', at, tookMs: latencyMs, pid: null } as const;
  const found = stateIn(answer);
  if (found !== null) leaveView(capture, question.id, { ...said, says: beliefOf(found.word), ...found });
  else leaveView(capture, question.id, { ...said, since: null, ...unanswered(outcome, status, detail) });
}

function stateIn(answer: CriAnswer | null): Pick<View, 'word' | 'since'> | null {
  if (answer === null || !('status' in answer) || answer.status === null) return null;
  const { status } = answer;
  if (!('finishedAt' in status)) return { word: status.state, since: null };
  const since = status.finishedAt === '0' ? status.startedAt : status.finishedAt;
  return { word: status.state, since: since === '0' ? null : timeOfNs(since) };
}

function unanswered(
  outcome: CriCall['outcome'],
  status: CriCall['status'],
  detail: string | undefined,
): Pick<View, 'says' | 'word' | 'detail'> {
  if (status?.code === NOT_FOUND) return { says: 'absent', word: 'not found', detail: status.message };
  const words = detail ?? status?.message;
  const word = outcome === 'timeout' ? 'no answer' : outcome;
  return { says: 'unknown', word, ...(words === undefined ? {} : { detail: words }) };
}
