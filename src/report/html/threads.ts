import type { Facts, Thread } from '../../diagnosis/facts.ts';
import { formatDuration } from '../../formats/duration.ts';
import { meter } from '../charts/spark.ts';
import type { Anchors } from './anchors.ts';
import { html, type Markup } from './markup.ts';

const MAX_ROWS = 16;
const MAX_NAMED = 6;

/** Threads by the place in the kernel where they wait: those of the pod, and those of the node in D. */
export function threadsSection({ threads, nodeThreads }: Facts, anchors: Anchors): Markup | null {
  const own = threads?.all ?? [];
  const others = (nodeThreads?.blocked ?? []).filter(({ tid }) => !own.some(thread => thread.tid === tid));
  if (own.length + others.length === 0) return null;
  return html`<section id="threads"><h2>Threads by wait channel</h2>
${own.length > 0 && html`<h3>Of this pod<small>${own.length} threads in ${threads?.looks ?? 0} looks</small></h3>${channels(own, anchors)}`}
${others.length > 0 && html`<h3>Others of the node in D<small>${others.length} at the sweep</small></h3>${channels(others, anchors)}`}</section>`;
}

function channels(threads: readonly Thread[], anchors: Anchors): Markup {
  const groups = [...Map.groupBy(threads, channelOf)].toSorted(([, a], [, b]) => weight(b) - weight(a));
  const most = Math.max(...groups.map(([, all]) => all.length));
  return html`<table class="channels"><tbody>${groups
    .slice(0, MAX_ROWS)
    .map(
      ([channel, all]) =>
        html`<tr class="${isStill(all) ? 'still' : ''}"><th scope="row"><code>${channel}</code></th><td class="bar">${meter(all.length / most, null, isStill(all) ? 'hot' : 'calm')}</td><td class="count">${all.length}</td><td>${namesOf(all, anchors)}</td></tr>`,
    )}</tbody></table>`;
}

function channelOf({ wchan, state, call, stack }: Thread): string {
  if (state === 'R') return 'running';
  return wchan ?? stack?.[0]?.symbol ?? call?.name ?? 'not known';
}

/** What stands still comes first, then what is many. */
function weight(threads: readonly Thread[]): number {
  return (isStill(threads) ? 10_000 : 0) + threads.length;
}

function isStill(threads: readonly Thread[]): boolean {
  return threads.some(({ state, idle, moved }) => state === 'D' || (!idle && moved === 'never'));
}

function namesOf(threads: readonly Thread[], anchors: Anchors): Markup {
  const named = threads.slice(0, MAX_NAMED).map((thread, index) => {
    const { tid, comm, state, call, blockedForMs, cites } = thread;
    const age = blockedForMs !== null && isStill([thread]) ? ` ${formatDuration(blockedForMs)}` : '';
    const where = isStill([thread]) ? ` ${state}${call?.name == null ? '' : ` in ${call.name}`}${age}` : '';
    const words = `${comm} ${tid}${where}`;
    return html`${index === 0 ? '' : ', '}${isStill([thread]) ? anchors.link(cites.at(-1) ?? cites[0], words) : words}`;
  });
  const rest = threads.length - named.length;
  return html`${named}${rest > 0 ? `, and ${rest} more` : ''}`;
}

/** Lines that `threadsSection` links to. */
export function threadCitations({ threads, nodeThreads }: Facts): Thread['cites'][number][] {
  const all = [...(threads?.all ?? []), ...(nodeThreads?.blocked ?? [])].filter(thread => isStill([thread]));
  return all.slice(0, 200).map(({ cites }) => cites.at(-1) ?? cites[0]);
}
