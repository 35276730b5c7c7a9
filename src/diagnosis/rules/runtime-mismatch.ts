import { formatDuration } from '../../formats/duration.ts';
import { endedFor, exitOf, nameOf } from '../exits.ts';
import type { Belief, ContainerFacts, Facts, View } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';

const LIVES: ReadonlySet<Belief> = new Set(['created', 'running', 'paused']);
const ENDED: ReadonlySet<Belief> = new Set(['exited', 'absent']);

/** Layers tell each other of an exit within milliseconds; below this they are just asked at different moments. */
const APART_MS = 1000;

export const runtimeMismatch = defineRule({
  id: 'runtime-mismatch',
  title: 'The layers disagree about whether a container runs',
  kind: 'stall',
  needs: ['containers'],
  *judge(facts) {
    for (const container of facts.containers) {
      const views = lastWords(container.views).filter(view => LIVES.has(view.says) || isEnd(view, container));
      const pair = contradiction(views, container, facts);
      if (pair !== null) yield findingOf(container, views, pair, facts);
    }
  },
});

/** Of each source its last word: what it has put right is no contradiction. That a process is gone is for good, so its first time counts. */
function lastWords(views: readonly View[]): readonly View[] {
  return [...Map.groupBy(views, ({ source }) => source)].flatMap(([source, said]) => {
    const gone = source === '/proc' ? said.find(({ says }) => says === 'exited') : undefined;
    return gone ?? said.at(-1) ?? [];
  });
}

/** No record of runc is the end of one that has had a process. Before the first create there is none either. */
function isEnd({ says, source }: View, { initPid }: ContainerFacts): boolean {
  return ENDED.has(says) && !(source === 'runc' && initPid === null);
}

interface Contradiction {
  readonly alive: View;
  readonly ended: View;
  /** How much later `alive` was said than `ended`; null when one of them has no time. */
  readonly apartMs: number | null;
}

/**
 * Somebody says that it lives although another has said before that it is over. The reverse order is no contradiction: it may have
 * ended in between. Of an end younger than a second nobody can be expected to know.
 */
function contradiction(views: readonly View[], container: ContainerFacts, facts: Facts): Contradiction | null {
  const exit = exitOf(container, facts);
  const pairs = views
    .filter(({ says }) => ENDED.has(says))
    .flatMap(ended =>
      views
        .filter(alive => LIVES.has(alive.says))
        .flatMap((alive): readonly Contradiction[] => {
          const apartMs = alive.at === null || ended.at === null ? null : alive.at - ended.at;
          const isFresh = exit !== null && alive.at !== null && alive.at - exit.at < APART_MS;
          const knewBefore =
            apartMs !== null && apartMs < 0 && (exit === null || alive.at === null || alive.at < exit.at + APART_MS);
          return isFresh || knewBefore || isRestart(container, alive, ended) ? [] : [{ alive, ended, apartMs }];
        }),
    );
  // The widest apart says most.
  return pairs.toSorted((a, b) => (b.apartMs ?? 0) - (a.apartMs ?? 0))[0] ?? null;
}

/** docker starts a container again under its id: another process, which /proc and runc were not asked about. */
function isRestart({ docker, initPid }: ContainerFacts, alive: View, ended: View): boolean {
  const isDocker = alive.source === 'config.v2.json' || alive.source === 'docker';
  return (
    isDocker &&
    ended.source === '/proc' &&
    docker !== null &&
    docker !== 'absent' &&
    docker.pid !== null &&
    docker.pid !== 0 &&
    docker.pid !== initPid
  );
}

function findingOf(
  container: ContainerFacts,
  views: readonly View[],
  { alive, ended, apartMs }: Contradiction,
  facts: Facts,
): Finding {
  const known = endedFor(container, facts);
  const ageMs = known?.ageMs ?? (apartMs === null || apartMs <= 0 ? null : apartMs);
  const table = views.map(({ source, word }) => `${source}: ${word}`).join('; ');
  const live = views.filter(({ says }) => LIVES.has(says)).map(({ source }) => source);
  return {
    verdict: verdictAt(ageMs, 'proved'),
    says: `The layers disagree about ${nameOf(container)}: ${table}.`,
    because: views.map(({ cite }) => cite),
    next: [
      `What is behind is ${live.join(' and ')}: look for what keeps it from learning of the end.`,
      'Trust /proc and runc over the shim, the shim over containerd, containerd over what is written on disk.',
    ],
    ageMs,
    ageFrom:
      known?.ageFrom ??
      (ageMs === null ? null : `${alive.source} was asked ${formatDuration(ageMs)} after ${ended.source}`),
    links: [
      {
        says: `${live.join(', ')} still ${live.length === 1 ? 'says' : 'say'} running`,
        about: [`belief:${container.id}`],
        waitsFor: [`task:${container.id}`],
      },
    ],
  };
}
