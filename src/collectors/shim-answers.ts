import { NOT_FOUND } from '../formats/ttrpc/call.ts';
import type { ConnectAnswer, StateAnswer } from '../formats/ttrpc/task.ts';
import { beliefOf, type View } from '../formats/views/view.ts';
import type { ShimCall, ShimQuestion } from '../host/port.ts';
import { ourPid } from '../sandbox/nested-pids.ts';
import { shimQuestions } from '../sandbox/shim-questions.ts';
import type { Shim } from '../sandbox/types.ts';
import { wallTime } from '../sandbox/wall-time.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, spanOf } from './evidence-of.ts';
import { jsonLines } from './json-lines.ts';
import { leaveShim, leaveView } from './views/left-views.ts';

/** Only where a bundle does not say the socket. */
const FIND_MS = 1000;

/**
 * runtime/shim.json: what each shim says itself, over ttrpc: Connect, and once that is answered State of each of its
 * containers, once, all at the same time. Which call hangs is the evidence: State waits for the lock that a Delete, Start or
 * Kill of that container holds; Connect for the one of the whole shim, which a Create holds up to containerd 2.3.1. Never
 * Pids (forks runc), Stats, Wait, nor anything that changes something.
 */
export const shimAnswers: Collector = {
  name: 'shim-answers',
  phase: 'ask',
  deadlineMs: 6000,
  targets: ['sandbox'],
  async *collect(capture) {
    const questions = await questionsOf(capture);
    const asked = [...questions.values()];
    const answers = await capture.host.askShims(asked, deadlineOf(capture));
    const lines: object[] = [];
    for (const shim of capture.shims) {
      const question = questions.get(shim);
      const calls = question === undefined ? [] : (answers[asked.indexOf(question)] ?? []);
      if (question === undefined)
        lines.push({ shim: shim.pid, outcome: 'not-asked', detail: 'no socket of it was found' });
      for (const call of calls) lines.push(lineOf(capture, shim, question, call));
      leaveViews(capture, shim, calls);
    }
    const all = answers.flat().map(({ offsetMs, latencyMs }) => ({ offsetMs, durationMs: latencyMs }));
    const why = asked.length === 0 ? 'no socket of the shim was found' : whyGone(answers);
    yield {
      path: 'runtime/shim.json',
      source: asked.map(({ prefix, socket }) => `${prefix}${socket}`).join(' ') || 'ttrpc socket of the shim',
      outcome: why === null ? 'ok' : 'gone',
      body: jsonLines(lines),
      ...(why === null ? {} : { detail: why }),
      ...(asked.length === 0 ? {} : { at: spanOf(all) }),
    };
  },
};

/** A shim that does not answer is evidence; one that is not there any more, as when it ends while it is captured, is missing. */
function whyGone(answers: readonly (readonly ShimCall[])[]): string | null {
  const gone = answers.flat().filter(({ outcome }) => outcome === 'gone');
  return gone.length === 0 ? null : gone.map(({ call, detail }) => `${call}: ${detail ?? 'gone'}`).join('; ');
}

async function questionsOf(capture: Capture): Promise<ReadonlyMap<Shim, ShimQuestion>> {
  if (capture.target.kind !== 'sandbox') return new Map();
  const { containers } = capture.target.sandbox;
  const questions = await shimQuestions(capture.host, capture.shims, FIND_MS);
  const ownOf = ({ pid }: Shim) => containers.filter(({ shimPid }) => shimPid === pid).map(({ id }) => id);
  return new Map([...questions].map(([shim, question]) => [shim, { ...question, containers: ownOf(shim) }]));
}

function lineOf({ host }: Capture, { pid }: Shim, question: ShimQuestion | undefined, call: ShimCall): object {
  const { offsetMs, ...rest } = call;
  return { shim: pid, socket: question?.socket, at: wallTime(host, offsetMs), offsetMs, ...rest };
}

function leaveViews(capture: Capture, { pid }: Shim, calls: readonly ShimCall[]): void {
  for (const call of calls) if (call.container !== null) leaveView(capture, call.container, viewOf(capture, call));
  // The last one is that of the API which the shim serves.
  const connect = calls.findLast(({ container }) => container === null);
  if (connect === undefined) return;
  const { service, outcome, latencyMs, offsetMs, detail, status } = connect;
  const said = (connect.answer as ConnectAnswer | null)?.shimPid ?? null;
  const answeredBy = ourPid(capture.host, pid, said);
  const words = detail ?? status?.message;
  const view = { pid, service, outcome, at: wallTime(capture.host, offsetMs), latencyMs, answeredBy };
  leaveShim(capture, words === undefined ? view : { ...view, detail: words });
}

function viewOf({ host }: Capture, { outcome, offsetMs, latencyMs, answer, status, detail }: ShimCall): View {
  const said = { source: 'shim', at: wallTime(host, offsetMs + latencyMs), tookMs: latencyMs } as const;
  const silent = { ...said, pid: null, since: null };
  if (outcome === 'ok') {
    const { status: word, pid, exitedAt } = answer as StateAnswer;
    return { ...said, says: beliefOf(word), word, pid: pid === 0 ? null : pid, since: exitedAt };
  }
  if (status !== undefined) {
    const absent = status.code === NOT_FOUND;
    return {
      ...silent,
      says: absent ? 'absent' : 'unknown',
      word: absent ? 'not found' : `code ${status.code}`,
      detail: status.message,
    };
  }
  const word = outcome === 'timeout' ? 'no answer' : outcome;
  return { ...silent, says: 'unknown', word, ...(detail === undefined ? {} : { detail }) };
}
