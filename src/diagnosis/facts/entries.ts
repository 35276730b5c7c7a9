import { parseThreadDump } from '../../formats/thread-dump.ts';
import { type Citation, cite } from '../citation.ts';
import type { ItemRecord, ManifestRecord } from './manifest-record.ts';
import type { PlanRecord } from './plan-record.ts';

/** The entries of a bundle that were kept whole, as text, and what the bundle says about itself. Input of most extractors. */
export interface Entries {
  readonly plan: PlanRecord;
  /** Null for a bundle that was cut before it. */
  readonly manifest: ManifestRecord | null;
  /** Null for an entry that is not there. An empty one is ''. */
  text(path: string): string | null;
  /** Paths that fit, in the order of the bundle. */
  matching(form: RegExp): readonly string[];
  item(path: string): ItemRecord | null;
}

/** Line `number` (from 1) of an entry, as evidence. */
export function citeLine(path: string, text: string, number: number): Citation {
  return cite(path, number, text.split('\n', number)[number - 1] ?? '');
}

/** The first line that fits, as evidence; the entry as a whole where none does. */
export function citeFirst(path: string, text: string, form: RegExp): Citation {
  const lines = text.split('\n');
  const index = lines.findIndex(line => form.test(line));
  return index < 0 ? cite(path, null, text) : cite(path, index + 1, lines[index] ?? '');
}

/** ms since 1970 of the middle of the reading of an entry; null without a manifest. */
export function readAt({ plan, manifest }: Entries, path: string): number | null {
  const item = manifest?.items.get(path);
  return item === undefined ? null : plan.startedAt + item.offsetMs + item.durationMs / 2;
}

/**
 * Looked for and not there, which is an answer, as against not captured: `absent` and `empty` among the outcomes. Without a
 * manifest an entry that is not there was not captured.
 */
export function wasAbsent(entries: Entries, path: string): boolean {
  const item = entries.item(path);
  if (item !== null) return item.outcome === 'absent' || item.outcome === 'gone';
  return entries.manifest?.notGot.some(gap => gap.path === path && gap.outcome === 'absent') === true;
}

const CONTAINER_LOOK = /^containers\/([^/]+)\/threads-(\d+)\.txt$/;

/** Looks at a container's init, first to last. */
export function looksAtInit(entries: Entries, id: string): readonly string[] {
  const looks = entries.matching(CONTAINER_LOOK).map(path => ({ path, match: CONTAINER_LOOK.exec(path) }));
  return looks
    .filter(({ match }) => match?.[1] === id)
    .toSorted((a, b) => Number(a.match?.[2]) - Number(b.match?.[2]))
    .map(({ path }) => path);
}

/** Whether a look saw a process, and not as a zombie. */
export function sees(text: string, pid: number): boolean {
  return parseThreadDump(text).threads.some(thread => thread.tid === pid && thread.state !== 'Z');
}

/** Whether a look says of a process that it was not there any more. */
export function saysGone(text: string, pid: number): boolean {
  return parseThreadDump(text).processes.some(process => process.pid === pid && process.outcome === 'gone');
}
