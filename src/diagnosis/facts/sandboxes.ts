import type { Entries } from './entries.ts';
import type { PodNames } from './writers.ts';

const LINE = /^([0-9A-Za-z._-]+) ([^\s/]+\/\S+) (\S+)$/;

/** node/sandboxes.txt, and what logs say of pods besides: `shop/batch-7` by uid and by the id of a sandbox. */
export function podNamesFrom(entries: Entries, logged: PodNames): PodNames {
  const byUid = new Map(logged.byUid);
  const byId = new Map(logged.byId);
  for (const line of (entries.text('node/sandboxes.txt') ?? '').split('\n')) {
    const [, id, name, uid] = LINE.exec(line) ?? [];
    if (id === undefined || name === undefined || uid === undefined) continue;
    byId.set(id, name);
    if (uid !== '-') byUid.set(uid, name);
  }
  return { byUid, byId };
}
