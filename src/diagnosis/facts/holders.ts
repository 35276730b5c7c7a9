import { cite } from '../citation.ts';
import type { Holder, HolderFacts, PodThreads, ShimFacts } from '../facts.ts';
import type { Entries } from './entries.ts';

const HOLDERS = 'node/holders.txt';

const LINE = /^(\d+) (\S+) (?:(fd \d+) w pipe:\[(\d+)\]|(cwd|root|fd \d+) (\/.*)|mount (\/.*) in (mnt:\[\d+\]))$/;

/**
 * node/holders.txt: who holds pipes and mounts of the pod open. Null when it was not looked for.
 */
export function holdersFrom(
  entries: Entries,
  threads: PodThreads | null,
  shims: readonly ShimFacts[] | null,
): HolderFacts | null {
  const text = entries.text(HOLDERS);
  if (text === null) return null;
  const own = new Set([...(threads?.all.map(({ pid }) => pid) ?? []), ...(shims?.map(({ pid }) => pid) ?? [])]);
  const pipeWriters = new Map<number, Holder[]>();
  const mounts = new Map<string, Holder[]>();
  for (const [index, line] of text.split('\n').entries()) {
    const [, pid, comm = '', fd, pipe, how, path, point, namespace] = LINE.exec(line) ?? [];
    if (pid === undefined) continue;
    const holder = (words: string): Holder => ({
      ...{ pid: Number(pid), comm, how: words, ofPod: own.has(Number(pid)) },
      cite: cite(HOLDERS, index + 1, line),
    });
    if (pipe !== undefined) append(pipeWriters, Number(pipe), holder(fd ?? 'fd'));
    else if (path !== undefined) append(mounts, path, holder(how ?? 'open'));
    else if (point !== undefined) append(mounts, point, holder(`mount namespace ${namespace}`));
  }
  return { pipeWriters, mounts };
}

function append<K>(map: Map<K, Holder[]>, key: K, holder: Holder): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [holder]);
  else known.push(holder);
}
