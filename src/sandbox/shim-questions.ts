import { parseListening } from '../formats/proc/net-unix.ts';
import type { TaskApi } from '../formats/ttrpc/task.ts';
import type { Host, ShimQuestion } from '../host/port.ts';
import { prefixOf } from './mount-prefix.ts';
import { namesOf, type Reads, readsWithin, textOf } from './reads.ts';
import type { Shim } from './types.ts';

/** A node with thousands of sockets in one network namespace: 100 bytes each. */
const SOCKETS_BYTES = 8 << 20;
/** A shim has a dozen; one with a leak of descriptors is read to this many. */
const MOST_DESCRIPTORS = 512;

/**
 * How each shim can be asked, without what: its socket as its bundle names it, or where the bundle was deleted or says
 * nothing, as the shim has it open. Shims whose socket was not found are left out.
 */
export async function shimQuestions(
  host: Pick<Host, 'now' | 'readRisky'>,
  shims: readonly Shim[],
  deadlineMs: number,
): Promise<ReadonlyMap<Shim, ShimQuestion>> {
  const found = await openSockets(
    shims.filter(({ socket }) => socket === null),
    readsWithin(host, deadlineMs),
  );
  return new Map(
    shims.flatMap(shim => {
      const socket = shim.socket ?? found.get(shim);
      return socket === undefined ? [] : [[shim, questionOf(shim, socket)] as const];
    }),
  );
}

function questionOf({ state, generation, shimVersion, namespace, id }: Shim, socket: string): ShimQuestion {
  return { socket, prefix: prefixOf(state), apis: apisOf(generation, shimVersion), namespace, id, containers: [] };
}

/** bootstrap.json may say 3 of a shim that was started before the upgrade and speaks 2, so both are tried. */
function apisOf(generation: Shim['generation'], version: Shim['shimVersion']): readonly TaskApi[] {
  if (generation === 'v1') return ['v1'];
  return version === 3 ? ['v3', 'v2'] : ['v2', 'v3'];
}

/** Addresses that shims listen at, from their descriptors and the kernel's table of sockets. */
async function openSockets(shims: readonly Shim[], reads: Reads): Promise<ReadonlyMap<Shim, string>> {
  const directory = ({ pid }: Shim) => `/proc/${pid}/fd`;
  const table = ({ pid }: Shim) => `/proc/${pid}/net/unix`;
  const listed = await reads.read(shims.map(shim => ({ path: directory(shim), what: 'dir' })));
  const links = (shim: Shim) =>
    namesOf(listed, directory(shim))
      .slice(0, MOST_DESCRIPTORS)
      .map(fd => `${directory(shim)}/${fd}`);
  const read = await reads.read([
    ...shims.flatMap(shim => links(shim).map(path => ({ path, what: 'link' as const }))),
    ...shims.map(shim => ({ path: table(shim), maxBytes: SOCKETS_BYTES })),
  ]);
  return new Map(
    shims.flatMap(shim => {
      const open = new Set(links(shim).map(path => textOf(read, path)));
      const own = parseListening(textOf(read, table(shim)) ?? '').find(({ inode }) => open.has(`socket:[${inode}]`));
      if (own === undefined) return [];
      return [[shim, own.path.startsWith('@') ? own.path : `unix://${own.path}`] as const];
    }),
  );
}
