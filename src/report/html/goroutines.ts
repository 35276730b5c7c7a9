import type { Facts, GoroutineGroupFact } from '../../diagnosis/facts.ts';
import { html, type Markup } from './markup.ts';

const MAX_GROUPS = 200;

/** Every goroutine dump, with goroutines of one stack folded into one. */
export function goroutinesSection({ goroutines, daemonGoroutines }: Facts): Markup | null {
  const dumps = [
    ...(goroutines ?? []).map(({ shimPid, ...dump }) => ({ ...dump, who: `shim ${shimPid}` })),
    ...(daemonGoroutines ?? []).map(({ daemon, pid, ...dump }) => ({ ...dump, who: `${daemon} ${pid}` })),
  ];
  if (dumps.length === 0) return null;
  return html`<section id="goroutines"><h2>Goroutines</h2>${dumps.map(
    ({
      who,
      entry,
      all,
      complete,
      groups,
    }) => html`<h3>${who}<small>${all.length} in ${groups.length} groups, ${complete ? 'complete' : 'not whole'}, ${entry}</small></h3>
${groups.toSorted(byAge).slice(0, MAX_GROUPS).map(groupMarkup)}`,
  )}</section>`;
}

/** A request that waits for long is what one looks for; runtime goroutines are as old as the process. */
function byAge(a: GoroutineGroupFact, b: GoroutineGroupFact): number {
  const isRequest = ({ example }: GoroutineGroupFact) => Number(example.rpc !== null);
  return isRequest(b) - isRequest(a) || (b.oldestMinutes ?? 0) - (a.oldestMinutes ?? 0) || b.count - a.count;
}

function groupMarkup({ example, count, oldestMinutes, youngestMinutes }: GoroutineGroupFact): Markup {
  const age =
    oldestMinutes === null
      ? ''
      : oldestMinutes === youngestMinutes || youngestMinutes === null
        ? `${oldestMinutes} min`
        : `${youngestMinutes} to ${oldestMinutes} min`;
  const at = example.frames
    .slice(0, 3)
    .map(({ function: name }) => shortName(name))
    .join(' ← ');
  return html`<details class="${example.rpc === null ? '' : 'request'}"><summary><b>${count} ×</b> <span class="state">${example.state}</span>${age !== '' && html` <span class="age">${age}</span>`}${example.rpc !== null && html` <span class="rpc">${example.rpc}</span>`} <code>${at}</code></summary>
<ol class="frames">${example.frames.map(({ function: name, args, file, line }) => html`<li><code>${name}(${args})</code><br><span class="file">${file ?? 'unknown'}${line === null ? '' : `:${line}`}</span></li>`)}</ol></details>`;
}

const shortName = (name: string) => name.slice(name.lastIndexOf('/') + 1);
