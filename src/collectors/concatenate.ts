import type { Evidence } from '../bundle/evidence.ts';
import type { FileResult } from '../host/port.ts';
import { isMissing, spanOf } from './evidence-of.ts';

/**
 * Many small files as one entry, in the layout that `tail -n +1 FILES` and `head` print and that anybody can split again:
 *
 *     ==> /sys/block/vda/queue/scheduler <==
 *     [none] mq-deadline
 *
 *     ==> /sys/block/vda/queue/nr_requests <==
 *     256
 *
 * Files that are not there are left out: which of them a kernel has differs from version to version. Files that are
 * there and could not be read say why in place of their content, and make the entry `truncated`.
 */
export function concatenate(path: string, source: string, files: readonly FileResult[]): Evidence {
  const present = files.filter(file => !isMissing(file));
  const unread = present.filter(file => file.outcome !== 'ok' && file.outcome !== 'empty');
  const entry = { path, source, body: sections(present), ...(files.length > 0 ? { at: spanOf(files) } : {}) };
  const [first] = unread;
  if (first !== undefined) {
    const detail = `${unread.length} of ${present.length} files not whole, first ${first.path}: ${reasonOf(first)}`;
    return { ...entry, outcome: 'truncated', detail };
  }
  if (present.length === 0) return { ...entry, outcome: 'absent', detail: 'none of these files exists on this node' };
  return { ...entry, outcome: 'ok' };
}

/** The layout alone. A body without a line end gets one. */
function sections(files: readonly FileResult[]): Buffer {
  const parts: Buffer[] = [];
  for (const file of files) {
    parts.push(Buffer.from(`${parts.length === 0 ? '' : '\n'}==> ${file.path} <==\n`), file.body);
    if (file.body.length > 0 && file.body.at(-1) !== 0x0a) parts.push(Buffer.from('\n'));
    if (file.outcome !== 'ok' && file.outcome !== 'empty') parts.push(Buffer.from(`(not whole: ${reasonOf(file)})\n`));
  }
  return Buffer.concat(parts);
}

function reasonOf(file: FileResult): string {
  return file.detail === undefined ? file.outcome : `${file.outcome}, ${file.detail}`;
}
