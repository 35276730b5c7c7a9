import { beliefOf, type Source, type View } from '../../../src/formats/views/view.ts';

const START = Date.parse('2026-11-29T12:00:00.000Z');
export const time = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

/** A view at so many seconds after the start. `/proc` says `alive` or `gone`, others their own words. */
export function view(source: Source, word: string, seconds: number, more: Partial<View> = {}): View {
  const ofInit = word === 'alive' ? 'running' : word === 'gone' ? 'exited' : null;
  const says = ofInit ?? beliefOf(word);
  return { source, says, word, at: time(seconds), tookMs: null, pid: null, since: null, ...more };
}
