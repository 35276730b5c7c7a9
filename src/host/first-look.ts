import { readlinkSync } from 'node:fs';
import { monotonicMs, offsetMs } from './clock.ts';
import { lookAt, numbersIn, threadsIn } from './look.ts';
import type { FirstLook, ProcessLook } from './port.ts';
import { readText } from './proc-file.ts';

/**
 * The look that is taken before anything else is loaded: the shims that the raw arguments mean, or all. It knows no
 * flags and no pods; an argument that happens to match costs a look, never a wrong answer, since the target is resolved
 * afterwards from the same /proc.
 */

/** For all looks together: a node with a hundred shims must not wait for its first signal. Who is named is worth more. */
const BOUND_MS = { all: 150, id: 600 } as const;

/** `containerd-shim-runc-v2` and every other shim, cut by the kernel at 15 bytes. */
const COMM = 'containerd-shim';

/** A prefix shorter than this matches by accident. */
const PREFIX = /^[0-9a-f]{4,64}$/;

interface Candidate {
  readonly pid: number;
  /** Basename of the cwd: the sandbox id with CRI, the container id with ctr and docker. */
  readonly id: string | null;
}

/** `args`: everything after the command's name, flags too. Never throws. */
export function takeFirstLook(args: readonly string[]): FirstLook {
  const began = monotonicMs();
  const shims = findShims();
  const meant = matching(args, shims);
  const matchedBy = meant.length > 0 ? 'id' : 'all';
  const shown = meant.length > 0 ? meant.toSorted((a, b) => startOf(a) - startOf(b)) : shims;
  const until = began + BOUND_MS[matchedBy];

  let firstStackMs: number | null = null;
  const onThread = () => {
    firstStackMs ??= offsetMs();
  };
  const looks: ProcessLook[] = [];
  for (const { pid } of shown) {
    if (looks.length > 0 && monotonicMs() > until) break;
    looks.push(lookAt(pid, { safe: true, until, onThread }));
  }
  const left = shown.length - looks.length;
  return {
    matchedBy,
    shims: looks,
    firstStackMs,
    ...(left === 0 ? {} : { detail: `${left} of ${shown.length} shims left for lack of time` }),
  };
}

/** A container may hold a thousand processes that go by the id of its shim; none of them is as old. */
function startOf({ pid }: Candidate): number {
  const stat = readText(`/proc/${pid}/stat`).text ?? '';
  return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? Number.POSITIVE_INFINITY);
}

function findShims(): readonly Candidate[] {
  return numbersIn('/proc').flatMap(pid => {
    if (readText(`/proc/${pid}/comm`).text?.startsWith(COMM) !== true) return [];
    const status = readText(`/proc/${pid}/status`).text ?? '';
    // With one thread: see safe-read.ts. It can still be looked at by a probe, unless all that is left of it is its exit.
    if (threadsIn(status) < 2) return /^State:\s*[ZX]/m.test(status) ? [] : [{ pid, id: null }];
    return [{ pid, id: idOf(pid) }];
  });
}

/** Null without a readable cwd: it is found when all are looked at. */
function idOf(pid: number): string | null {
  try {
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    const name = cwd.slice(cwd.lastIndexOf('/') + 1);
    // containerd renames a bundle to `.<id>` before it deletes it; a shim that lives on shows that name.
    return name.endsWith(' (deleted)') ? name.slice(0, -' (deleted)'.length).replace(/^\./, '') : name;
  } catch {
    return null;
  }
}

function matching(args: readonly string[], shims: readonly Candidate[]): readonly Candidate[] {
  const ids = shims.filter(({ id }) => id !== null && args.includes(id));
  if (ids.length > 0) return ids;
  const pids = new Set(args.flatMap(arg => (/^pid:\d+$/.test(arg) ? shimAbove(Number(arg.slice(4)), shims) : [])));
  const prefixes = args.filter(arg => PREFIX.test(arg));
  return shims.filter(({ pid, id }) => pids.has(pid) || prefixes.some(prefix => id?.startsWith(prefix)));
}

/** The shim itself, also by a thread of it, or the shim that a container's process descends from. */
function shimAbove(pid: number, shims: readonly Candidate[]): readonly number[] {
  // Deep enough for any container; a bound, since parents may change under our feet.
  for (let at = inStatus(pid, 'Tgid'), steps = 0; at > 1 && steps < 32; steps += 1) {
    if (shims.some(shim => shim.pid === at)) return [at];
    at = inStatus(at, 'PPid');
  }
  return [];
}

function inStatus(pid: number, field: 'Tgid' | 'PPid'): number {
  return Number(new RegExp(`^${field}:\\s*(\\d+)$`, 'm').exec(readText(`/proc/${pid}/status`).text ?? '')?.[1] ?? 0);
}
