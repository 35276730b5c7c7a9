import { textTable } from '../formats/text-table.ts';
import { ageSeconds, durationWords } from './ages.ts';
import type { BlockedThread } from './blocked-threads.ts';
import type { Sandbox } from './types.ts';

/** `shop/web-0`, docker's name, or the containerd namespace and the id. Not yet made safe to show. */
export function sandboxName({ pod, containers, id, namespace }: Sandbox): string {
  if (pod !== null) return `${pod.namespace}/${pod.name}`;
  return containers.find(container => container.id === id)?.name ?? `${namespace}/${shortId(id)}`;
}

/** Docker's and crictl's length. */
export function shortId(id: string): string {
  return id.slice(0, 12);
}

/** `umount2 in wb_wait_for_completion for 4 min 10 s (shim 2623)`. */
export function blockedWords({ comm, pid, state, place, syscall, blockedForSeconds }: BlockedThread): string {
  const who = comm.startsWith('containerd-shim') ? 'shim' : comm;
  const where = [syscall, place === null ? null : `in ${place}`].filter(part => part !== null).join(' ');
  const since = blockedForSeconds === null ? '' : ` for ${durationWords(blockedForSeconds)}`;
  return `${where === '' ? `state ${state}` : where}${since} (${who} ${pid})`;
}

/** Candidates for a person to choose from. */
export function sandboxTable(
  sandboxes: readonly Sandbox[],
  uptime: number | null,
  blocked: ReadonlyMap<Sandbox, readonly BlockedThread[]> = new Map(),
): string {
  const withBlocked = blocked.size > 0;
  return textTable(
    ['POD', 'SANDBOX', 'SHIM', 'AGE', ...(withBlocked ? ['BLOCKED'] : [])],
    sandboxes.map(sandbox => {
      const longest = blocked.get(sandbox)?.[0];
      return [
        sandboxName(sandbox),
        shortId(sandbox.id),
        sandbox.shims.map(({ pid }) => pid).join(',') || '-',
        durationWords(ageSeconds(sandbox, uptime)),
        ...(withBlocked ? [longest === undefined ? '-' : blockedWords(longest)] : []),
      ];
    }),
  );
}
