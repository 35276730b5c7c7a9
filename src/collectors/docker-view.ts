import type { Evidence } from '../bundle/evidence.ts';
import { isoTime } from '../formats/iso-time.ts';
import { type JsonObject, objectAt, pidAt, stringAt } from '../formats/runtime/json.ts';
import { beliefOf, type View } from '../formats/views/view.ts';
import type { Capture } from './collector.ts';
import { firstObjectIn } from './first-object.ts';
import { leaveView } from './views/left-views.ts';
import { saidBy, silence } from './views/view-of-answer.ts';

/** What dockerd said of a container, by `docker inspect` or its API: the same document, once in an array. */
export function leaveDockerView(capture: Capture, id: string, evidence: Evidence): void {
  const document = evidence.outcome === 'ok' ? firstObjectIn(evidence.body) : null;
  const said = saidBy('docker', capture, evidence);
  leaveView(capture, id, document === null ? silence(said, evidence) : { ...said, ...stateIn(document) });
}

/** moby api/types/container State. A time that has not come is the year 1. */
function stateIn(document: JsonObject): Pick<View, 'says' | 'word' | 'pid' | 'since'> {
  const state = objectAt(document, 'State');
  const word = stringAt(state, 'Status') ?? 'no state';
  const says = beliefOf(word);
  const time = Date.parse(stringAt(state, says === 'exited' ? 'FinishedAt' : 'StartedAt') ?? '');
  const since = time > 0 ? isoTime(time) : null;
  return { says, word, pid: pidAt(state, 'Pid'), since };
}
