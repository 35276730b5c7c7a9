import { formatDuration, formatSize } from '../../formats/duration.ts';
import { type Blocked, blockedThreads, concerning, partsOf, whoIs } from '../blocked.ts';
import type { Device, Facts, Thread } from '../facts.ts';
import { defineRule, type Finding, type Link, verdictAt } from '../rule.ts';
import {
  citeCall,
  citeFrame,
  frameOf,
  inOneCall,
  isIn,
  type Standstill,
  sleepsIn,
  stackHas,
  threadWords,
} from '../standstill.ts';

/** fs/overlayfs/super.c ovl_sync_fs, called for the last umount by fs/super.c generic_shutdown_super below cleanup_mnt. */
const UNMOUNTING = ['ovl_sync_fs', 'generic_shutdown_super', /^_*cleanup_mnt$/] as const;

/** What a disk writes in a moment: less than this makes nobody wait for long. */
const MUCH_DIRTY_BYTES = 32 * 1024 * 1024;

/**
 * A container wrote to its own disk and died; its shim unmounts the overlay, which first writes back all that is dirty on the whole
 * filesystem of its upper layer. containerd and dockerd do the same in a create: they mount an overlay for a moment, to look into an image
 * or to change owners (containerd's WithTempMount, issue 4485).
 */
export const overlayUmountSync = defineRule({
  id: 'overlay-umount-sync',
  title: "The unmount of a container's disk waits until everything is written back",
  kind: 'stall',
  needs: ['threads'],
  lacks: ({ threads }) => (threads.stacks === 'none' ? ['kernel stacks of the shim'] : []),
  *judge(facts) {
    const shims = facts.threads.all
      .filter(({ role }) => role === 'shim')
      .map(thread => ({ thread, whose: 'pod' as const }));
    const daemons = concerning(blockedThreads(facts), facts).filter(({ whose }) => whose === 'runtime');
    for (const { thread, whose } of [...shims, ...daemons]) {
      const stood = inOneCall(thread);
      if (stood === null || thread.state !== 'D') continue;
      if (!isIn(thread, 'umount2') || !stackHas(thread, UNMOUNTING) || waitsForAnotherHolder(thread)) continue;
      yield findingOf({ thread, whose }, stood, facts);
    }
  },
});

/**
 * It waits for the superblock of the upper filesystem, so somebody else is the cause: the rule second-waiter. Kernels that
 * keep the functions of locks out of stacks and wait channels show it in their caller.
 */
function waitsForAnotherHolder(thread: Thread): boolean {
  const place = sleepsIn(thread) ?? '';
  return place === 'ovl_sync_fs' || place.startsWith('rwsem_down_');
}

function findingOf({ thread, whose }: Pick<Blocked, 'thread' | 'whose'>, stood: Standstill, facts: Facts): Finding {
  const { dirty } = facts;
  const device = facts.devices?.all.find(({ name }) => name === dirty?.device) ?? null;
  const isBusy = device !== null && (device.alwaysInFlight || (device.rates?.utilPercent ?? 0) >= 50);
  const isMuch = (dirty?.bytes ?? 0) >= MUCH_DIRTY_BYTES;
  const whole = stood.proof === 'looks' && (isBusy || isMuch);
  const place = placeOf(facts);
  return {
    verdict: verdictAt(stood.ageMs, whole ? 'proved' : 'likely'),
    says:
      `${whose === 'pod' ? 'A thread of the shim' : whoIs({ thread, whose }, facts)} has been unmounting a container's disk for ${formatDuration(stood.ageMs)}: overlayfs first writes back ` +
      `everything that is dirty on ${place.words}${howMuch(facts, device)}.`,
    because: [
      ...thread.cites,
      citeCall(thread),
      ...UNMOUNTING.flatMap(symbol => {
        const frame = frameOf(thread, symbol);
        return frame === null ? [] : [citeFrame(thread, frame)];
      }),
      ...(isMuch && dirty !== null ? dirty.samples.slice(-1).map(({ cite }) => cite) : []),
      ...(isBusy ? device.samples.slice(-1).map(({ cite }) => cite) : []),
    ],
    next: NEXT,
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: linksOf({ thread, whose }, place, device, facts),
    // A disk that writes, slowly, is the other half of the same sentence. One that does not is another cause.
    tellsWhy: dirty?.drainMs != null,
  };
}

const NEXT = [
  'Wait, if you can: it ends by itself when the disk has written; a restart of containerd or of the node loses what is dirty, and the evidence.',
  'Find who writes to the disk of the container layers, and give that data a volume of its own.',
  'Let overlays be mounted with `volatile` (kernel 5.10, containerd 1.6.24 or later): their unmount then needs no sync.',
];

interface Place {
  readonly words: string;
  /** `254:1`, of the filesystem that the upper layers are on. */
  readonly filesystem: string | null;
}

/** An overlay that is being unmounted is in no mountinfo any more: the other layers of the pod are beside it, or containerd's root. */
function placeOf({ mounts, dirty }: Facts): Place {
  const chain = mounts?.chains.find(({ devices, container, role }) => {
    return (
      devices[0] !== undefined && devices[0] === dirty?.device && (container !== null || role !== 'writable layer')
    );
  });
  if (chain === undefined) return { words: "the filesystem of the container's upper layer", filesystem: null };
  const name = chain.devices[0] ?? chain.device;
  return { words: `${chain.mountPoint ?? chain.path} (${name})`, filesystem: chain.device };
}

/** `, 182.0 MiB by now, and loop0 writes 1.9 MiB/s: some 1 min 34 s more` */
function howMuch({ dirty }: Facts, device: Device | null): string {
  if (dirty === null) return '';
  const amount =
    dirty.of === 'node'
      ? `, at most ${formatSize(dirty.bytes)} (all that is dirty on the node)`
      : `, ${formatSize(dirty.bytes)} at the time of the capture`;
  const rate = dirty.writtenBytesPerSecond;
  if (device === null || rate === null || dirty.drainMs === null) return amount;
  return `${amount}, and ${device.name} writes ${formatSize(rate)}/s: ${dirty.of === 'node' ? 'at most' : 'some'} ${formatDuration(dirty.drainMs)} more`;
}

function linksOf(
  blocked: Pick<Blocked, 'thread' | 'whose'>,
  { words, filesystem }: Place,
  device: Device | null,
  { dirty }: Facts,
): readonly Link[] {
  const about = dirty?.of === 'node' ? 'at most' : 'about';
  const drain = dirty?.drainMs == null ? '' : `, ${about} ${formatDuration(dirty.drainMs)} to drain`;
  const amount =
    dirty === null ? '' : `, ${dirty.of === 'node' ? 'up to ' : ''}${formatSize(dirty.bytes)} dirty${drain}`;
  const own: Link = {
    says: threadWords(blocked.thread),
    about: partsOf(blocked),
    waitsFor: filesystem === null ? [] : [`filesystem:${filesystem}`],
  };
  if (filesystem === null) return [own];
  const sync: Link = {
    says: `overlay sync of ${words}${amount}`,
    about: [`filesystem:${filesystem}`],
    waitsFor: device === null ? [] : [`device:${device.name}`],
  };
  return [own, sync];
}
