/** /proc/<pid>/syscall and /proc/<pid>/task/<tid>/syscall: proc_pid_syscall(5), kernel fs/proc/base.c proc_pid_syscall. */
export type SyscallFile =
  /** On a CPU or about to be: the kernel does not say. */
  | { readonly kind: 'running' }
  /** `-1`: blocked, but in no call: a page fault, an exception, or on the way out to user space. */
  | { readonly kind: 'none'; readonly sp: string | null; readonly pc: string | null }
  | {
      readonly kind: 'call';
      readonly number: number;
      /** Six, as the registers hold them (`0xffffffffffffff9c`), whatever number the call takes. */
      readonly args: readonly string[];
      readonly sp: string | null;
      readonly pc: string | null;
    }
  /** All zeros: a thread of the kernel, which is in no call. */
  | { readonly kind: 'kernel' }
  /** Empty, cut, or a note in its place. */
  | { readonly kind: 'unknown'; readonly text: string };

export function parseSyscall(text: string): SyscallFile {
  const trimmed = text.trim();
  if (trimmed === 'running') return { kind: 'running' };
  const [first = '', ...words] = trimmed.split(/\s+/);
  if (!/^-?\d+$/.test(first) || words.some(word => !/^0x[0-9a-f]+$/.test(word))) {
    return { kind: 'unknown', text: trimmed };
  }
  const number = Number(first);
  if (number < 0) return { kind: 'none', sp: words[0] ?? null, pc: words[1] ?? null };
  if (words.length < 6) return { kind: 'unknown', text: trimmed };
  // A thread of the kernel has no registers of user space: all of them read as 0, which is no read(0, …).
  if (number === 0 && words.length === 8 && words.every(word => word === '0x0')) return { kind: 'kernel' };
  return { kind: 'call', number, args: words.slice(0, 6), sp: words[6] ?? null, pc: words[7] ?? null };
}

/**
 * Calls that the Go runtime makes for itself, without giving up its P first (runtime/sys_linux_*.s, mem_linux.go,
 * netpoll_epoll.go, os_linux.go): a thread that hangs in one cannot be stopped, so the stop of the world that a goroutine
 * dump needs never ends, and no goroutine runs any more. Seen on containerd 1.6.20 with a delayed epoll_ctl.
 * clone: the fork of a program whose exec hangs on its disk (CLONE_VFORK) holds the P all along.
 * prctl: it names mappings since Go 1.25, under the same lock as mmap.
 */
const GO_RUNTIME_CALLS: ReadonlySet<string> = new Set([
  'mmap',
  'munmap',
  'mprotect',
  'madvise',
  'mincore',
  'epoll_ctl',
  'clone',
  'clone3',
  'vfork',
  'prctl',
]);

export function isGoRuntimeCall(name: string): boolean {
  return GO_RUNTIME_CALLS.has(name);
}
