import { formatDuration } from '../../formats/duration.ts';
import { inside } from '../blocked.ts';
import { nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, GoroutineFact, Thread } from '../facts.ts';
import { layersPlace } from '../places.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { citeCall, isIn, type Standstill, sleepsIn, standstill, threadWords } from '../standstill.ts';
import { runsElsewhere } from '../under-way.ts';
import { isOlder } from '../versions.ts';

/** mount(2), and its successors that newer containerd uses for overlays with many layers. */
const MOUNTS = ['mount', 'fsconfig', 'fsmount', 'move_mount'];
const IN_MOUNT = /^(?:path_mount|do_mount|do_new_mount)$/;

/** A shim mounts the overlay of a container before it runs runc, and up to 2.3.1 no other request of the pod is answered meanwhile. */
export const overlayMountBlocked = defineRule({
  id: 'overlay-mount-blocked',
  title: "The mount of a container's disk does not come back",
  kind: 'stall',
  needs: ['threads'],
  *judge(facts) {
    for (const thread of facts.threads.all) {
      const stood = standstill(thread);
      if (stood === null || thread.role !== 'shim' || thread.state !== 'D') continue;
      if (isMounting(thread)) yield findingOf(thread, stood, facts);
    }
  },
});

function isMounting(thread: Thread): boolean {
  const byCall = MOUNTS.some(call => isIn(thread, call));
  return thread.call === null ? inside(thread, 'ovl_fill_super') !== null : byCall;
}

function findingOf(thread: Thread, stood: Standstill, facts: Facts): Finding {
  const place = layersPlace(facts);
  const create = creating(thread, facts);
  const container = containerOf(facts);
  const frames = ['ovl_fill_super', IN_MOUNT].flatMap(symbol => inside(thread, symbol) ?? []);
  const where = sleepsIn(thread);
  const whole = stood.proof === 'looks' && frames.length > 0 && create !== null;
  const blocksAll = isOlder(facts.capture.versions.containerd, '2.3.2') !== false;
  const silent = facts.shims?.find(({ pid, connect }) => pid === thread.pid && connect?.answered === false)?.connect;
  return {
    verdict: verdictAt(stood.ageMs, whole ? 'proved' : 'likely'),
    says:
      `The shim has been mounting the disk of ${container === undefined ? 'a container' : nameOf(container)} for ` +
      `${formatDuration(stood.ageMs)}${where === null ? '' : ` and waits in ${where}`}${place === null ? '' : `, for the filesystem of the layers, ${place.words}`}` +
      `${blocksAll ? '; until that ends it answers no request of the pod' : ''}.`,
    because: [
      ...thread.cites,
      citeCall(thread),
      ...frames,
      ...(create === null ? [] : [create.cite]),
      ...(silent == null ? [] : [silent.cite]),
    ],
    next: [
      `Find out why the filesystem of the layers does not answer: frozen (fs-frozen), its disk (disk-dead, disk-capped), its journal.`,
      'The kubelet will try again and say `failed to reserve container name`: that is this mount, and goes away with it.',
      'Do not restart containerd: a shim that does not answer Connect within 5 s loses its bundle.',
    ],
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: [
      {
        says: `${threadWords(thread)}, mounting an overlay`,
        about: [
          `thread:${thread.tid}`,
          ...(create === null ? [] : [`goroutine:${thread.pid}:${create.id}` as const]),
          ...(container === undefined ? [] : [`task:${container.id}` as const]),
        ],
        waitsFor: place?.filesystem == null ? [] : [`filesystem:${place.filesystem}`],
      },
    ],
  };
}

/** The request in which the shim mounts; null where the dump does not have exactly one. */
function creating({ pid, tid }: Thread, { goroutines }: Facts): GoroutineFact | null {
  const dump = goroutines?.find(({ shimPid }) => shimPid === pid);
  const found = dump?.all.filter(({ rpc }) => rpc === 'Create') ?? [];
  return found.find(goroutine => goroutine.tid === tid) ?? (found.length === 1 ? (found[0] ?? null) : null);
}

/** The one container that has a bundle, and neither a process nor runc's record yet. */
function containerOf({ containers, target }: Facts): ContainerFacts | undefined {
  const early = containers?.filter(container => {
    const { initPid, runc, bundle } = container;
    const isKnown = initPid !== null || (runc !== 'absent' && runc !== null) || runsElsewhere(container, target);
    return !isKnown && bundle !== 'absent';
  });
  return early?.length === 1 ? early[0] : undefined;
}
