import type { GoFrame, Goroutine } from './goroutine.ts';

/**
 * Whether a dump is all there. A dump may end early (nobody read on, a line limit, a cap), and it may have a hole in the middle
 * (two readers shared the bytes of the shim's pipe).
 */
export interface Completeness {
  readonly complete: boolean;
  /** `complete`, `truncated (at goroutine 96)`, `truncated (before the first goroutine)`. */
  readonly verdict: string;
}

/** What Go itself puts in the place of frames, in a crash. */
const NOTE = /^\s*goroutine running on other thread; stack unavailable$/;

/** Every call with its position, and no line that belongs elsewhere. */
function isWhole({ frames, createdBy, unknown }: Goroutine): boolean {
  return (
    (frames.length > 0 || unknown.length > 0) &&
    frames.every(({ file }) => file !== null) &&
    createdBy?.file !== null &&
    unknown.every(line => NOTE.test(line))
  );
}

/** Whether nothing can follow in its block: it says who created it, or it is main, or a thread of the runtime itself. */
function isEnded({ id, frames, createdBy }: Goroutine): boolean {
  if (createdBy !== null) return createdBy.file !== null;
  const outermost = frames.at(-1);
  return id === 0 || (outermost?.file != null && /^(?:main\.main|runtime\..*)$/.test(outermost.function));
}

/**
 * Whether a function may stand in a file: the last part of its package's path is the file's directory. Not so for functions that
 * Go links into the runtime (`time.Sleep` is in runtime/time.go), for wrappers, and for the main package.
 */
function isAtHome({ function: name, file }: GoFrame): boolean {
  if (file === null || file.startsWith('<')) return true;
  const directory = file.split('/').at(-2)?.split('@', 1)[0];
  const own = name
    .slice(name.lastIndexOf('/', name.search(/[([]|$/)) + 1)
    .replace(/\..*$/s, '')
    .replaceAll('%2e', '.');
  return (
    directory === undefined || directory === own || directory === 'runtime' || own === 'main' || /^v\d+$/.test(own)
  );
}

/**
 * A hole whose two borders fit together gives a function at a position of another. One to three such frames are holes; more come
 * from a build whose directories are not called as its packages are.
 */
function misplaced(goroutines: readonly Goroutine[]): ReadonlySet<Goroutine> {
  const strange = goroutines.filter(({ frames }) => !frames.every(isAtHome));
  return new Set(strange.length <= 3 ? strange : []);
}

/**
 * `end`: `seen` when the END marker of a shim's dump follows, `missing` when it should and does not, `unmarked` for a file that
 * has no markers at all (containerd's and dockerd's stack files): there the last goroutine must be ended. A hole that took whole
 * calls, or whole goroutines, cannot be seen.
 */
export function completenessOf(goroutines: readonly Goroutine[], end: 'seen' | 'missing' | 'unmarked'): Completeness {
  const last = goroutines.at(-1);
  if (last === undefined) return { complete: false, verdict: 'truncated (before the first goroutine)' };
  const strange = misplaced(goroutines);
  const holed = goroutines.find(goroutine => !isWhole(goroutine) || strange.has(goroutine));
  const cut = end === 'missing' || (end === 'unmarked' && !isEnded(last)) ? last : undefined;
  const at = holed ?? cut;
  return at === undefined
    ? { complete: true, verdict: 'complete' }
    : { complete: false, verdict: `truncated (at goroutine ${at.id})` };
}
