import { readdirSync, readlinkSync } from 'node:fs';
import { lookAtThread, threadsIn } from '../look.ts';
import type { StuckProbe } from '../port.ts';
import { readText } from '../proc-file.ts';
import { itemIn } from './batch.ts';
import { childrenOf } from './descendants.ts';

/** What the files of a silent probe say. It is ours and past exec, so none of them can hang; see safe-read.ts. */
export type Findings = Pick<StuckProbe, 'state' | 'wchan' | 'syscall' | 'stack' | 'fds' | 'children'>;

export const NO_FINDINGS: Findings = { state: null, wchan: null, syscall: null, stack: null, fds: [], children: [] };

/**
 * Where a probe hangs, and in which item. `ready`: it has said so itself; of one that has not, only comm and status are
 * read, and what is below it.
 */
export function autopsy(pid: number, ready: boolean): { readonly item: number | null; readonly findings: Findings } {
  const item = itemIn(readText(`/proc/${pid}/comm`).text ?? '');
  const status = readText(`/proc/${pid}/status`).text ?? '';
  const state = /^State:\s*(\S)/m.exec(status)?.[1] ?? null;
  const children = childrenOf(pid);
  if (!ready || threadsIn(status) < 2) return { item, findings: { ...NO_FINDINGS, state, children } };
  // Requests are answered in the main thread.
  const { wchan, syscall, stack } = lookAtThread(pid, pid);
  const fds = fdsOf(pid);
  return { item, findings: { state, wchan, syscall: syscall?.trimEnd() ?? null, stack, fds, children } };
}

function fdsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(fd => `${fd} -> ${linkOf(`/proc/${pid}/fd/${fd}`)}`);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '?';
  }
}

/** The last file that a probe has open beside its own. */
export function openFileIn(fds: readonly string[], pid: number): string | null {
  const paths = fds.map(link => link.replace(/^\d+ -> /, ''));
  return (
    paths.findLast(path => path.startsWith('/') && path !== '/dev/null' && !path.startsWith(`/proc/${pid}/`)) ?? null
  );
}
