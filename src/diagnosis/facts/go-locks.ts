/**
 * Who holds a mutex of a runc shim, and who waits for it, out of a goroutine dump. Go says of a waiter that it is in
 * Mutex.Lock, and nothing of a holder; containerd's code says which functions keep which mutex (pkg/process/init.go,
 * runtime/v2/runc/task/service.go; in 2.x the same below cmd/containerd-shim-runc-v2).
 */
import type { GoLock, GoroutineFact } from '../facts.ts';

type LockName = GoLock['name'];

export interface LockWait {
  readonly name: LockName;
  /** Of the mutex; null where the dump does not give it. */
  readonly address: string | null;
}

const LOCKING = /(?:^|\/)sync\.\(\*(?:RW)?Mutex\)\.(?:Lock|RLock|lockSlow)$/;

/** By the function that calls Lock; the first that fits. */
const BY_FUNCTION: readonly (readonly [RegExp, LockName])[] = [
  [/\.\(\*Init\)\.lock$/, 'Init.lock'],
  [/\.\(\*Init\)\.\w+$/, 'Init.mu'],
  [/\.\(\*(?:execProcess|safePid)\)\.\w+$/, 'execProcess.mu'],
  [/\.\(\*Container\)\.\w+$/, 'Container.mu'],
  [/\.\(\*[sS]ervice\)\.(?:preStart|handleProcessExit|handleStarted)/, 'lifecycleMu'],
  [/\.\(\*[sS]ervice\)\.(?:send|sendL)$/, 'other'],
  [/\.\(\*[sS]ervice\)\.\w+$/, 'service.mu'],
  [/cgroups?[^/]{0,64}\.\(\*\w+\)\.\w+$/, 'cgroup'],
  [/logrus\.\(\*\w+\)\.\w+$/, 'logger'],
];

/** The lock that a goroutine stands before; null for one that is not in Lock. */
export function waitsForLock({ frames }: Pick<GoroutineFact, 'frames'>): LockWait | null {
  const outermost = frames.findLastIndex(({ function: name }) => LOCKING.test(name));
  // Below Lock there are only the runtime's own functions; a Lock further out has long returned.
  if (outermost < 0 || outermost > 4) return null;
  const wanted = frames[outermost + 1]?.function ?? '';
  const slow = frames.find(({ function: name }) => name.endsWith('.lockSlow'));
  const name = BY_FUNCTION.find(([form]) => form.test(wanted))?.[1] ?? 'other';
  return { name, address: pointer(slow?.args) };
}

/** A first argument that Go vouches for: no `?` behind it. */
function pointer(args: string | undefined): string | null {
  return /^(0x[0-9a-f]+)(?:[,)]|$)/.exec(args ?? '')?.[1] ?? null;
}

interface Holder {
  readonly name: LockName;
  readonly goroutine: GoroutineFact;
  readonly operation: string;
  /** Of the object that has the mutex in it. */
  readonly object: string | null;
}

/** Methods of Init that keep `mu` from their first line to their last. */
const HOLDS_INIT = /\.\(\*Init\)\.(Delete|Start|Kill|KillAll|Pause|Resume|Update|Checkpoint|SetExited|Resize)$/;
const HOLDS_EXEC = /\.\(\*execProcess\)\.(Start|Delete|Kill|Resize|SetExited)$/;
/** Create keeps the service's mutex through `runc create` up to 2.3.1, the exit of a process up to 1.6.21 and 1.7.2. */
const HOLDS_SERVICE = /\.\(\*[sS]ervice\)\.(Create|checkProcesses)$/;
const HOLDS_LOGGER = /logrus\.\(\*Entry\)\.write$/;

function holdersOf(goroutine: GoroutineFact): readonly Holder[] {
  const { frames } = goroutine;
  const wait = waitsForLock(goroutine);
  const found: Holder[] = [];
  for (const [form, name] of [
    [HOLDS_INIT, 'Init.mu'],
    [HOLDS_EXEC, 'execProcess.mu'],
    [HOLDS_SERVICE, 'service.mu'],
    [HOLDS_LOGGER, 'logger'],
  ] as const) {
    const frame = frames.find(({ function: full }) => form.test(full));
    // Whoever still stands before a lock of this kind does not hold one: nobody takes two of them.
    if (frame === undefined || wait?.name === name || (wait?.name === 'Init.lock' && name === 'Init.mu')) continue;
    const operation = form.exec(frame.function)?.[1] ?? 'write';
    found.push({ name, goroutine, operation, object: objectOf(goroutine, name) });
  }
  return found;
}

/** The receiver, from whichever method of the object is called with one that Go vouches for. */
function objectOf({ frames }: GoroutineFact, name: LockName): string | null {
  const type = name.startsWith('Init') ? '(*Init)' : name === 'execProcess.mu' ? '(*execProcess)' : '(*service)';
  for (const { function: full, args } of frames) {
    const receiver = full.includes(`.${type}.`) ? pointer(args) : null;
    if (receiver !== null) return receiver;
  }
  return null;
}

/** process.Init has some 200 bytes, and its mutex in the first 64. */
const OBJECT_BYTES = 512n;

function isInside(mutex: string, object: string): boolean {
  const offset = BigInt(mutex) - BigInt(object);
  return offset >= 0n && offset < OBJECT_BYTES;
}

/**
 * Every mutex that somebody waits for, and every Init.mu and execProcess.mu that somebody is busy under. A holder and its waiters
 * are joined by the addresses of object and mutex; where the dump has none, because there is but one of each.
 */
export function locksIn(goroutines: readonly GoroutineFact[]): readonly GoLock[] {
  const holders = goroutines.flatMap(holdersOf);
  const waiting = goroutines.flatMap(goroutine => {
    const wait = waitsForLock(goroutine);
    return wait === null ? [] : [{ goroutine, ...wait }];
  });
  const groups = [...Map.groupBy(waiting, ({ name, address }) => `${name} ${address}`).values()];
  const taken = new Set<Holder>();
  const locks = groups.map((group): GoLock => {
    const [{ name, address } = { name: 'other' as const, address: null }] = group;
    const found = holderOf(name, address, holders, groups.filter(([first]) => first?.name === name).length);
    if (found !== null) taken.add(found.holder);
    return {
      ...{ name, address },
      holder: found?.holder.goroutine ?? null,
      operation: found?.holder.operation ?? null,
      joinedBy: found?.by ?? null,
      waiters: group.map(({ goroutine }) => goroutine),
    };
  });
  // Of service.mu and the logger, whether it is held depends on the version: only waiters prove it.
  const busy = holders.filter(holder => !taken.has(holder) && /^(?:Init|execProcess)\.mu$/.test(holder.name));
  return [
    ...locks,
    ...busy.map(({ name, goroutine, operation }): GoLock => {
      return { name, address: null, holder: goroutine, operation, joinedBy: null, waiters: [] };
    }),
  ];
}

function holderOf(
  name: LockName,
  address: string | null,
  holders: readonly Holder[],
  locksOfName: number,
): { readonly holder: Holder; readonly by: 'address' | 'alone' } | null {
  const ofName = holders.filter(holder => holder.name === name);
  const exact = ofName.find(({ object }) => address !== null && object !== null && isInside(address, object));
  if (exact !== undefined) return { holder: exact, by: 'address' };
  const [only] = ofName;
  const contradicted = only !== undefined && only.object !== null && address !== null;
  if (only === undefined || ofName.length > 1 || locksOfName > 1 || contradicted) return null;
  return { holder: only, by: 'alone' };
}
