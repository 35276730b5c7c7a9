import { parseBundlePath } from '../formats/runtime/bundle-path.ts';
import { type CriAnnotations, parseCriAnnotations } from '../formats/runtime/cri-annotations.ts';
import { parseObject, pidAt, stringAt } from '../formats/runtime/json.ts';
import { parseOciConfig } from '../formats/runtime/oci-config.ts';
import { podUidOfCgroup, podUidOfKubeletPath } from '../formats/runtime/pod-uid.ts';
import { parseRuncState, RUNC_STATE_BEGINNING_BYTES, type RuncState } from '../formats/runtime/runc-state.ts';
import { parseAddress, parseBootstrap, type ShimSocket } from '../formats/runtime/shim-socket.ts';
import type { FileRequest } from '../host/port.ts';
import { type DockerPlace, dockerPlaceOf } from './docker-place.ts';
import { type ReadFiles, type Reads, textOf } from './reads.ts';
import type { BundlePlace } from './task-places.ts';

/** What a bundle directory, and runc's record beside it, say of one container. */
export interface Bundle extends BundlePlace {
  /** As we can open it. */
  readonly path: string;
  /** False when not one file of it could be read: then nothing is known of whose it is. */
  readonly told: boolean;
  readonly cri: CriAnnotations;
  /** From the cgroup path or kubelet's mounts: known even where no annotation or label names the pod. */
  readonly podUid: string | null;
  readonly socket: ShimSocket | null;
  /** The file `sandbox`, since 1.7. */
  readonly sandboxFile: string | null;
  /** containerd's root, as we can open it. */
  readonly root: string | null;
  readonly pidFile: number | null;
  /** Of runc, as we can open it: `<runc root>/<namespace>/<id>`. */
  readonly runcDirectory: string;
  readonly runc: RuncState | null;
  readonly docker: DockerPlace | null;
}

/** RuncRoot of containerd's shims (pkg/process/utils.go), wherever containerd's own state directory is. */
const RUNC_ROOT = '/run/containerd/runc';

/** The rest of a bundle is a few bytes each; a config.json with many variables and mounts is the largest. */
const SMALL_BYTES = 64 << 10;

/** Bundles per call: their config.json together are some megabytes, and are forgotten before the next ones are read. */
const PER_CALL = 64;

/** runc keeps its state elsewhere for docker (options.json), and for v1 shims (`-runtime-root`). */
export type RuncRoots = ReadonlyMap<string, string>;

/** `runcRoots`: by path of the bundle, where the shim's command line names one. */
export async function readBundles(
  places: readonly BundlePlace[],
  runcRoots: RuncRoots,
  reads: Reads,
): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = [];
  for (let at = 0; at < places.length; at += PER_CALL) {
    const some = places.slice(at, at + PER_CALL);
    const files = await reads.read(some.flatMap(place => requestsFor(place, runcRoots)));
    bundles.push(...some.map(place => bundleOf(place, files, runcRoots)));
  }
  const elsewhere = bundles.filter(
    bundle => bundle.runc === null && bundle.runcDirectory !== runcDirectory(bundle, runcRoots),
  );
  const states = await reads.read(elsewhere.map(bundle => stateRequest(bundle.runcDirectory)));
  const found = new Map(elsewhere.map(bundle => [bundle, runcOf(bundle.runcDirectory, states)]));
  return bundles.map(bundle => ({ ...bundle, runc: bundle.runc ?? found.get(bundle) ?? null }));
}

function requestsFor(place: BundlePlace, runcRoots: RuncRoots): readonly FileRequest[] {
  const state = stateRequest(runcDirectory(place, runcRoots));
  if (place.deleted) return [state];
  const path = pathOf(place);
  return [
    { path: `${path}/config.json` },
    ...['address', 'bootstrap.json', 'sandbox', 'init.pid', 'options.json'].map(name => ({
      path: `${path}/${name}`,
      maxBytes: SMALL_BYTES,
    })),
    { path: `${path}/work`, what: 'link' },
    state,
  ];
}

function stateRequest(directory: string): FileRequest {
  return { path: `${directory}/state.json`, maxBytes: RUNC_STATE_BEGINNING_BYTES };
}

function pathOf({ place, dir }: BundlePlace): string {
  return place.view.prefix + dir;
}

/** The directory that is known before the bundle was read. */
function runcDirectory(bundle: BundlePlace, runcRoots: RuncRoots): string {
  return runcDirectoryIn(bundle, runcRoots.get(pathOf(bundle)) ?? RUNC_ROOT);
}

function runcDirectoryIn({ place, id }: BundlePlace, root: string): string {
  return `${place.view.prefix}${root}/${place.namespace}/${id}`;
}

function runcOf(directory: string, files: ReadFiles): RuncState | null {
  return parseRuncState(textOf(files, `${directory}/state.json`) ?? '');
}

function bundleOf(place: BundlePlace, files: ReadFiles, runcRoots: RuncRoots): Bundle {
  const path = pathOf(place);
  const text = (name: string) => textOf(files, `${path}/${name}`) ?? '';
  const config = parseOciConfig(text('config.json'));
  const options = parseObject(text('options.json'));
  const known = runcDirectory(place, runcRoots);
  const runcRoot = options === null ? null : stringAt(options, 'root');
  const work = parseBundlePath(text('work'));
  const mounts = [...(config?.mounts.values() ?? [])];
  const socket = parseBootstrap(text('bootstrap.json')) ?? parseAddress(text('address'));
  const sandboxFile = text('sandbox').trim() || null;
  return {
    ...place,
    path,
    told: config !== null || socket !== null || sandboxFile !== null,
    cri: parseCriAnnotations(config?.annotations ?? new Map()),
    podUid:
      podUidOfCgroup(config?.cgroupsPath ?? '') ?? mounts.map(podUidOfKubeletPath).find(uid => uid !== null) ?? null,
    socket,
    sandboxFile,
    root: work === null ? null : place.place.view.prefix + work.state,
    pidFile: pidAt({ pid: text('init.pid').trim() }, 'pid'),
    runcDirectory: runcRoot === null ? known : runcDirectoryIn(place, runcRoot),
    runc: runcOf(known, files),
    docker: config === null ? null : dockerPlaceOf(config),
  };
}
