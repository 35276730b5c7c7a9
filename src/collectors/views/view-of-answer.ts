import type { Evidence } from '../../bundle/evidence.ts';
import type { Source, View } from '../../formats/views/view.ts';
import { wallTime } from '../../sandbox/wall-time.ts';
import type { Capture } from '../collector.ts';

/** What every view out of an answer has, of a client or of an API, whatever it says. */
export function saidBy<Name extends Source>(source: Name, { host }: Pick<Capture, 'host'>, { at }: Evidence) {
  const endMs = at === undefined ? host.now().offsetMs : at.offsetMs + at.durationMs;
  return { source, at: wallTime(host, endMs), tookMs: at?.durationMs ?? null, pid: null, since: null };
}

/** An answer that tells no state: none came in time, or it was something else. */
export function silence(
  said: ReturnType<typeof saidBy>,
  { outcome, detail, at }: Pick<Evidence, 'outcome' | 'detail' | 'at'>,
): View {
  const answered = outcome === 'ok' ? 'no state' : outcome;
  // Without a time nothing was asked: an earlier question had hung.
  const word = outcome === 'timeout' ? (at === undefined ? 'not asked' : 'no answer') : answered;
  return { ...said, says: 'unknown', word, ...(detail === undefined ? {} : { detail }) };
}
