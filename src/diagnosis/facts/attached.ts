import type { AttachedText } from '../facts.ts';
import type { Entries } from './entries.ts';
import { parseListing, timesOf } from './listing.ts';

/** Beside the files: when each was written, since tables have ages for times. */
const LISTING = 'attached/files.txt';
const ATTACHED = /^attached\/(?!files\.txt$)[^/]+$/;

/** What was attached to a grab. Null when nothing was. */
export function attachedFrom(entries: Entries): readonly AttachedText[] | null {
  const listed = parseListing(LISTING, entries.text(LISTING) ?? '');
  const files = entries.matching(ATTACHED).map(path => {
    const name = path.slice(path.indexOf('/') + 1);
    return { name, text: entries.text(path) ?? '', writtenAt: timesOf(listed, name)?.mtime ?? entries.plan.startedAt };
  });
  return files.length === 0 ? null : files;
}
