import type { FileRequest, FileResult, Host } from '../host/port.ts';
import type { Inventory } from './types.ts';

export type Gap = Inventory['gaps'][number];

/** What was read, by path. A path that was asked for twice was read once. */
export type ReadFiles = ReadonlyMap<string, FileResult>;

/** Risky reads within one deadline. What hangs, is denied or fails is noted; what is not there is no gap. */
export interface Reads {
  readonly gaps: readonly Gap[];
  /** `withinMs` bounds this call below what is left of the whole. */
  read(
    requests: readonly FileRequest[],
    bounds?: { readonly itemMs?: number; readonly withinMs?: number },
  ): Promise<ReadFiles>;
}

/** A file of a state directory answers in microseconds; one that does not is left, with time for the others. */
const ITEM_MS = 500;

/** Reads that share one deadline, ms from now. */
export function readsWithin(host: Pick<Host, 'now' | 'readRisky'>, deadlineMs: number): Reads {
  const end = host.now().offsetMs + deadlineMs;
  const gaps: Gap[] = [];
  return {
    gaps,
    async read(requests, { itemMs = ITEM_MS, withinMs = Number.POSITIVE_INFINITY } = {}) {
      const unique = [...new Map(requests.map(request => [request.path, request])).values()];
      const leftMs = Math.min(end - host.now().offsetMs, withinMs);
      if (unique.length === 0) return new Map();
      if (leftMs <= 0) {
        gaps.push({
          path: unique[0]?.path ?? '',
          outcome: 'timeout',
          detail: `${unique.length} reads left for lack of time`,
        });
        return new Map();
      }
      const results = await host.readRisky(unique, { deadlineMs: leftMs, itemMs: Math.min(itemMs, leftMs) });
      gaps.push(...results.flatMap(gapOf));
      return new Map(results.map(result => [result.path, result]));
    },
  };
}

function gapOf({ path, outcome, detail }: FileResult): readonly Gap[] {
  if (outcome !== 'timeout' && outcome !== 'denied' && outcome !== 'error') return [];
  return [{ path, outcome, ...(detail === undefined ? {} : { detail }) }];
}

/** The text of a file, as far as it was read, or the target of a link; null where there is none. */
export function textOf(files: ReadFiles, path: string): string | null {
  const file = files.get(path);
  const there = file?.outcome === 'ok' || file?.outcome === 'empty' || file?.outcome === 'truncated';
  return there ? file.body.toString('utf8') : null;
}

/** Names in a directory that was read with `what: 'dir'`, directories without their slash. */
export function namesOf(files: ReadFiles, path: string): readonly string[] {
  return (textOf(files, path) ?? '')
    .split('\n')
    .map(name => name.replace(/\/$/, ''))
    .filter(name => name !== '');
}
