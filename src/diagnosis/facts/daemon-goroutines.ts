import { completenessOf } from '../../formats/goroutines/completeness.ts';
import { parseGoroutines } from '../../formats/goroutines/parse-goroutines.ts';
import type { DaemonGoroutines } from '../facts.ts';
import { type Entries, readAt } from './entries.ts';
import { factOf, groupsOf } from './goroutines.ts';

/** `daemons/containerd-812-1.txt`: what, pid, number of the dump. */
const DUMP = /^daemons\/(containerd|dockerd)-(\d+)(?:-(\d+))?\.txt$/;

/** Dumps of containerd and dockerd. Null when none was taken. */
export function daemonGoroutinesFrom(entries: Entries): readonly DaemonGoroutines[] | null {
  const dumps = entries.matching(DUMP).flatMap((entry): readonly DaemonGoroutines[] => {
    const [, daemon = '', pid, sample = '1'] = DUMP.exec(entry) ?? [];
    const { goroutines } = parseGoroutines(entries.text(entry) ?? '');
    if (goroutines.length === 0) return [];
    const facts = new Map(goroutines.map(goroutine => [goroutine.id, factOf(goroutine, entry)]));
    return [
      {
        ...{ pid: Number(pid), daemon: daemon as DaemonGoroutines['daemon'], entry, sample: Number(sample) },
        ...{ at: readAt(entries, entry), complete: completenessOf(goroutines, 'unmarked').complete },
        ...{ all: [...facts.values()], groups: groupsOf(goroutines, facts) },
      },
    ];
  });
  return dumps.length === 0 ? null : dumps;
}
