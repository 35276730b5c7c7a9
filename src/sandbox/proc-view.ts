import type { View } from '../formats/views/view.ts';
import type { InitState } from './inits.ts';

const WORDS: Readonly<Record<Exclude<InitState, null>, string>> = {
  alive: 'alive',
  zombie: 'zombie',
  gone: 'gone',
  reused: 'pid reused',
};

/** What /proc says of a container: whether the process that runc made its init is there. */
export function procView(state: InitState, pid: number | null, at: string): View {
  const said = { source: '/proc', at, tookMs: null, pid, since: null } as const;
  if (state === null) return { ...said, says: 'unknown', word: pid === null ? 'no pid' : 'no answer' };
  return { ...said, says: state === 'alive' ? 'running' : 'exited', word: WORDS[state] };
}
