import { isIdle } from './wchan.ts';

/** Whose thread it is. A shim's fork that has not got through its execve is called like the shim, and judged like it. */
export type Role = 'shim' | 'runc' | 'application';

/** `runc`, `runc:[2:INIT]`, and what takes its place: what a shim runs for a moment. Names are cut at 15 bytes. */
const RUNTIME = /^(?:runc|docker-runc|runsc|crun|youki|kata-runtime|sysbox-runc|nvidia-containe)(?::|$)/;

/** By a process's comm, below a shim. */
export function roleOf(comm: string | null): Role {
  if (comm?.startsWith('containerd-shim')) return 'shim';
  return RUNTIME.test(comm ?? '') ? 'runc' : 'application';
}

export interface Waiting {
  readonly role: Role;
  /** Letter of /proc/<pid>/stat. */
  readonly state: string;
  readonly place: string | null;
}

/**
 * Whether a thread of the pod's own tree that sleeps there waits for something that should have come. D always; T and t
 * (stopped, traced) of a shim and runc. In S it depends:
 * - a shim idles in Go's own places; anywhere else (a full log fifo, a request to FUSE, a file lock) it is held up;
 * - runc is there for moments. That it waits for its child, for a pipe or for the other end of exec.fifo is a stall too;
 * - an application may wait anywhere for its own reasons, but not inside of a filesystem.
 */
export function waitsInVain({ role, state, place }: Waiting): boolean {
  if (state === 'D') return true;
  if (state === 'T' || state === 't') return role !== 'application';
  if (state !== 'S' || place === null) return false;
  switch (role) {
    case 'shim':
      return !isIdle(place);
    case 'runc':
      return !isIdle(place) || WAITS_FOR_A_CHILD.has(place);
    case 'application':
      return IN_A_FILESYSTEM.test(place);
  }
}

/** Where `runc create` waits for `runc init` and the reverse: pipes, a socket pair, wait4. Idle places for all others. */
const WAITS_FOR_A_CHILD: ReadonlySet<string> = new Set([
  ...['pipe_wait', 'pipe_read', 'anon_pipe_read', 'do_wait', 'do_wait4', 'kernel_wait4'],
  ...['unix_stream_data_wait', 'unix_stream_read_generic', '__skb_wait_for_more_packets', 'skb_wait_for_more_packets'],
]);

/** Sleeps that a signal can end, so the state is S: FUSE (fs/fuse/dev.c), NFS and RPC, CIFS, Ceph, 9p, DLM. */
const IN_A_FILESYSTEM =
  /^(?:request_wait_answer|fuse_(?!dev_)\w+|__fuse_\w+|nfs[a-z\d]*_\w+|rpc_wait_bit_killable|__rpc_\w+|cifs_\w+|wait_for_response|ceph_\w+|p9_\w+|dlm_\w+)$/;
