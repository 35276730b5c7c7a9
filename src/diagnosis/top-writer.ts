/** Whose the dirty pages and the writes are, as far as the kernel attributes them. */
import { formatSize } from '../formats/duration.ts';
import type { Citation } from './citation.ts';
import type { Facts, Writer } from './facts.ts';
import type { Link, Part } from './rule.ts';

export interface TopWriter {
  /** `shop/batch-7` */
  readonly name: string;
  /** Of what is written (v2), else of the pages that are dirty or under writeback: 0 to 1. */
  readonly share: number;
  readonly by: 'writes' | 'dirty pages';
  readonly part: Part;
  readonly cite: Citation;
}

/** Half of all, or it is not worth a name. */
const MOST = 0.5;
const MUCH_BYTES = 16 * 1024 * 1024;

/**
 * The one that most is written by, or most of the dirty pages belong to. Null when nobody stands out, and where nothing is known:
 * blkio of cgroup v1 counts direct writes alone, so there only dirty pages tell.
 */
export function topWriter({ writers, dirty }: Pick<Facts, 'writers' | 'dirty'>): TopWriter | null {
  if (writers === null) return null;
  const [most] = writers.all;
  if (most?.share != null && most.share >= MOST) return top(most, most.share, 'writes');
  const [dirtiest] = writers.all.toSorted((a, b) => pagesOf(b) - pagesOf(a));
  const all = Math.max(
    dirty?.bytes ?? 0,
    writers.all.reduce((sum, writer) => sum + pagesOf(writer), 0),
  );
  if (dirtiest === undefined || pagesOf(dirtiest) < MUCH_BYTES || pagesOf(dirtiest) < MOST * all) return null;
  return top(dirtiest, pagesOf(dirtiest) / all, 'dirty pages');
}

function top({ name, podUid, cgroup, cite }: Writer, share: number, by: TopWriter['by']): TopWriter {
  return { name, share, by, part: podUid === null ? `cgroup:${cgroup}` : `pod:${name}`, cite };
}

function pagesOf({ dirtyBytes, writebackBytes }: Writer): number {
  return (dirtyBytes ?? 0) + (writebackBytes ?? 0);
}

/** `written by shop/batch-7 (93 %)` */
export function writerLink({ name, share, by, part }: TopWriter): Link {
  const percent = `${Math.round(share * 100)} %`;
  return {
    says:
      by === 'writes'
        ? `written by ${name} (${percent})`
        : `${percent} of the node's dirty pages, for whichever disk, are ${name}'s`,
    about: [part],
    waitsFor: [],
  };
}

/** `shop/batch-7 312.0 MiB, kubelet.service 4.1 MiB`: who has dirty pages, most first. */
export function dirtyWords(
  { writers }: Pick<Facts, 'writers'>,
  count: number,
): readonly { words: string; cite: Citation }[] {
  const byName = Map.groupBy(
    (writers?.all ?? []).filter(writer => pagesOf(writer) > 0),
    ({ name }) => name,
  );
  return [...byName]
    .map(([name, of]) => ({ name, of, bytes: of.reduce((sum, writer) => sum + pagesOf(writer), 0) }))
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, count)
    .flatMap(({ name, of: [most], bytes }) =>
      most === undefined ? [] : [{ words: `${name} ${formatSize(bytes)}`, cite: most.cite }],
    );
}
