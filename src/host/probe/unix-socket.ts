import { closeSync, fstatSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

/** Bytes of a path that fit sockaddr_un with its end. */
const LONGEST_PATH = 107;
const O_PATH = 0o10000000;

/**
 * Connects to a shim's socket by the rule of containerd (runtime/v2/shim/util_unix.go): `unix://` and a path, or without the
 * scheme the name of an abstract socket, as shims up to 1.4.2 have them. Connecting may look up a path that hangs: for
 * probes alone.
 */
export function connectUnix(address: string, prefix: string): Socket {
  const path = pathOf(address);
  return path === null ? connect(`\0${address.replace(/^@/, '')}`) : connectPath(prefix + path);
}

function pathOf(address: string): string | null {
  const path = address.replace(/^unix:\/\//, '');
  return path === address ? null : path;
}

/** One that is too long for an address, as below `/proc/<pid>/root`, is reached through a handle on it. */
export function connectPath(path: string): Socket {
  if (Buffer.byteLength(path) <= LONGEST_PATH) return connect(path);
  const handle = openSync(path, O_PATH);
  // connect(2) is called before this returns: the handle is needed no longer.
  try {
    if (!fstatSync(handle).isSocket()) throw Object.assign(new Error('is no socket'), { code: 'ENOTSOCK' });
    return connect(`/proc/self/fd/${handle}`);
  } finally {
    setImmediate(() => closeSync(handle));
  }
}
