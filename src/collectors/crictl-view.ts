import type { Evidence } from '../bundle/evidence.ts';
import { isoTime } from '../formats/iso-time.ts';
import { type JsonObject, objectAt, stringAt } from '../formats/runtime/json.ts';
import { beliefOf, type View } from '../formats/views/view.ts';
import type { Capture } from './collector.ts';
import { firstObjectIn } from './first-object.ts';
import { leaveView } from './views/left-views.ts';
import { saidBy, silence } from './views/view-of-answer.ts';

/** What crictl said of a container or sandbox: `inspect` and `inspectp` print CRI's status as JSON, times as RFC 3339. */
export function leaveCrictlView(capture: Capture, id: string, evidence: Evidence): void {
  const document = evidence.outcome === 'ok' ? firstObjectIn(evidence.body) : null;
  const status = document === null ? null : objectAt(document, 'status');
  const word = status === null ? null : stringAt(status, 'state');
  const said = saidBy('crictl', capture, evidence);
  leaveView(
    capture,
    id,
    status === null || word === null ? silence(said, evidence) : { ...said, ...stateIn(status, word) },
  );
}

function stateIn(status: JsonObject, word: string): Pick<View, 'says' | 'word' | 'since'> {
  const says = beliefOf(word);
  const time = Date.parse(stringAt(status, says === 'exited' ? 'finishedAt' : 'startedAt') ?? '');
  return { says, word, since: time > 0 ? isoTime(time) : null };
}
