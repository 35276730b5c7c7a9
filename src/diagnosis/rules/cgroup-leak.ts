import type { Facts, LogEvent } from '../facts.ts';
import { defineRule } from '../rule.ts';

/** mm/memcontrol.c MEM_CGROUP_ID_MAX: ids of memory cgroups are 16 bits wide (up to 6.x), and a dead cgroup keeps its id until its pages go. */
const MOST = 65_535;
const MANY = 60_000;

/** `mkdir` of a cgroup says ENOSPC or ENOMEM, and it has nothing to do with a disk. */
export const cgroupLeak = defineRule({
  id: 'cgroup-leak',
  title: 'The node is running out of memory cgroups',
  kind: 'context',
  needs: ['cgroups'],
  *judge(facts) {
    const memory = facts.cgroups.counts.get('memory') ?? null;
    const refused = refusals(facts);
    const isMany = memory !== null && memory.count >= MANY;
    if (memory === null || (!isMany && refused.length === 0)) return;
    // Below that the limit of somebody's own hierarchy (cgroup.max.descendants) or plain lack of memory may refuse it.
    yield {
      verdict: !isMany ? 'possible' : refused.length > 0 ? 'proved' : 'likely',
      says: isMany
        ? `The node has ${memory.count} memory cgroups of at most ${MOST}${refused.length > 0 ? ', and making another one was refused' : ''}: dead ones are kept until their pages are given back.`
        : `Making a cgroup was refused, with ${memory.count} memory cgroups on the node.`,
      because: [memory.cite, ...refused.slice(-2).map(({ cite }) => cite)],
      next: [
        'Not the disk: `df` will show room. Compare with `ls -R /sys/fs/cgroup/memory | wc -l`: the difference are dead cgroups.',
        '`echo 1 > /proc/sys/vm/drop_caches` gives back the pages that keep many of them; it costs the node its cache.',
        'Upgrade runc and the kernel, and look for what makes containers by the thousand (exec probes, cron jobs).',
      ],
      ageMs: null,
      ageFrom: null,
      links: [],
    };
  },
});

function refusals({ logs }: Facts): readonly LogEvent[] {
  const isRefusal = ({ message, error }: LogEvent) => {
    const text = `${message} ${error ?? ''}`;
    return /cgroup/.test(text) && /mkdir/.test(text) && /no space left on device|cannot allocate memory/.test(text);
  };
  const counted = logs?.counts.get('no-space')?.examples ?? [];
  return [...new Set([...(logs?.events ?? []), ...counted])].filter(isRefusal);
}
