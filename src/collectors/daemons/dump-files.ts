import type { FileResult, Host } from '../../host/port.ts';
import type { RuntimeDaemon } from '../../sandbox/types.ts';
import { namesIn } from '../evidence-of.ts';

const READ_MS = 800;

/** Where a daemon writes its dump, as we can open it. */
export interface DumpPlace {
  readonly directory: string;
  /** Name of the file; null where it has its time in it, and is known only when it is there. */
  readonly name: string | null;
}

/**
 * - containerd (cmd/containerd/command/main.go): `containerd.<pid>.stacks.log` in Go's os.TempDir, of its own mount
 *   namespace (systemd's PrivateTmp). One file, written anew each time.
 * - dockerd (daemon/debugtrap_unix.go): `goroutine-stacks-<time>.log` in its exec-root; a new file each time.
 */
export async function dumpPlaceOf(host: Pick<Host, 'readRisky'>, daemon: RuntimeDaemon): Promise<DumpPlace> {
  const { kind, pid, state } = daemon;
  if (kind === 'dockerd') return { directory: state ?? '/var/run/docker', name: null };
  const [tmp] = await host.readRisky([{ path: `/proc/${pid}/environ`, variable: 'TMPDIR' }], { deadlineMs: READ_MS });
  const directory = tmp?.outcome === 'ok' ? tmp.body.toString('utf8') : '/tmp';
  return { directory: `/proc/${pid}/root${directory}`, name: `containerd.${pid}.stacks.log` };
}

/** Files of dumps that are there: by name, what is known of each. */
export async function dumpsAt(
  host: Pick<Host, 'readRisky'>,
  { directory, name }: DumpPlace,
): Promise<ReadonlyMap<string, FileResult>> {
  const deadline = { deadlineMs: READ_MS };
  const listing = name === null ? await host.readRisky([{ path: directory, what: 'dir' }], deadline) : [];
  const names = name === null ? listing.flatMap(namesIn).filter(own => /^goroutine-stacks-.*\.log$/.test(own)) : [name];
  const files = await host.readRisky(
    names.map(own => ({ path: `${directory}/${own}`, what: 'stat' })),
    deadline,
  );
  return new Map(files.flatMap((file, index) => (file.outcome === 'ok' ? [[names[index] ?? '', file] as const] : [])));
}

/** The file that has come, or was written anew, since `before`; null while there is none. */
export function freshAmong(
  now: ReadonlyMap<string, FileResult>,
  before: ReadonlyMap<string, FileResult>,
): FileResult | null {
  for (const [name, file] of now) {
    const old = before.get(name)?.stat;
    const { mtimeNs, inode, size } = file.stat ?? {};
    const changed = old === undefined || old.mtimeNs !== mtimeNs || old.inode !== inode || old.size !== size;
    if (changed && size !== 0) return file;
  }
  return null;
}
