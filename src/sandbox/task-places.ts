import { TASK_DIRECTORY } from '../formats/runtime/bundle-path.ts';
import type { View } from './mount-namespaces.ts';
import { namesOf, type Reads } from './reads.ts';
import type { ShimServer } from './shim-servers.ts';
import type { RuntimeDaemon } from './types.ts';

/** A directory that holds bundles: `<state>/io.containerd.runtime.v2.task/<namespace>`. */
export interface TaskPlace {
  readonly view: View;
  readonly generation: 'v2' | 'v1';
  /** Both without the view's prefix. */
  readonly state: string;
  readonly namespace: string;
}

/** A bundle directory, not yet read. */
export interface BundlePlace {
  readonly place: TaskPlace;
  readonly id: string;
  /** Without the view's prefix: of a deleted bundle `<place>/.<id>`. */
  readonly dir: string;
  readonly deleted: boolean;
}

/** A state directory and who keeps it. */
export interface StateDirectory {
  readonly view: View;
  readonly state: string;
}

/** As we can open it. */
function pathOf(place: TaskPlace): string {
  return place.view.prefix + directoryOf(place);
}

function directoryOf({ state, generation, namespace }: TaskPlace): string {
  return `${state === '/' ? '' : state}/${TASK_DIRECTORY[generation]}/${namespace}`;
}

function placeOf({ view, path: { state, generation, namespace } }: ShimServer): TaskPlace {
  return { view, state, generation, namespace };
}

/**
 * Every bundle of the node: those that the shims work in, their siblings, and those of other namespaces of the same
 * containerds, where a bundle may be left without a shim. One call, or two when there is a namespace without a shim.
 */
export async function findBundles(
  shims: readonly ShimServer[],
  states: readonly StateDirectory[],
  reads: Reads,
): Promise<readonly BundlePlace[]> {
  const places = new Map(shims.map(placeOf).map(place => [pathOf(place), place]));
  const above = new Map(
    [...shims.map(({ view, path }) => ({ view, state: path.state })), ...states].flatMap(({ view, state }) =>
      (['v2', 'v1'] as const).map(generation => {
        const directory = `${view.prefix}${state === '/' ? '' : state}/${TASK_DIRECTORY[generation]}`;
        return [directory, { view, state, generation }] as const;
      }),
    ),
  );
  const listed = await reads.read([...above.keys(), ...places.keys()].map(path => ({ path, what: 'dir' })));
  const more = new Map<string, TaskPlace>();
  for (const [directory, { view, state, generation }] of above) {
    for (const namespace of namesOf(listed, directory)) {
      const place = { view, state, generation, namespace };
      if (!places.has(pathOf(place))) more.set(pathOf(place), place);
    }
  }
  const listedMore = await reads.read([...more.keys()].map(path => ({ path, what: 'dir' })));

  const bundles = new Map<string, BundlePlace>();
  for (const shim of shims) {
    const { id, dir, deleted } = shim.path;
    bundles.set(shim.view.prefix + dir, { place: placeOf(shim), id, dir, deleted });
  }
  for (const [path, place] of [...places, ...more]) {
    for (const id of namesOf(places.has(path) ? listed : listedMore, path)) {
      // A name with a dot in front is a bundle on its way out; it counts only where a shim still lives in it.
      if (!id.startsWith('.') && !bundles.has(`${path}/${id}`)) {
        bundles.set(`${path}/${id}`, { place, id, dir: `${directoryOf(place)}/${id}`, deleted: false });
      }
    }
  }
  return [...bundles.values()];
}

/** State directories of the daemons that no shim has told already. */
export function statesOf(
  daemons: readonly RuntimeDaemon[],
  views: ReadonlyMap<number, View>,
): readonly StateDirectory[] {
  return daemons.flatMap(({ kind, pid, state }) => {
    const view = views.get(pid);
    if (kind !== 'containerd' || state === null || view === undefined) return [];
    return [{ view, state: state.slice(view.prefix.length) }];
  });
}
