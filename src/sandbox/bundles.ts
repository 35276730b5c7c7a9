import { parseBundlePath } from '../formats/runtime/bundle-path.ts';
import { type CriAnnotations, parseCriAnnotations } from '../formats/runtime/cri-annotations.ts';
import { parseObject, pidAt, stringAt } from '../formats/runtime/json.ts';
import { type OciConfig, parseOciConfig } from '../formats/runtime/oci-config.ts';
import { podUidOfCgroup, podUidOfKubeletPath } from '../formats/runtime/pod-uid.ts';
import { parseRuncState, RUNC_STATE_BEGINNING_BYTES, type RuncState } from '../formats/runtime/runc-state.ts';
import { parseAddress, parseBootstrap, type ShimSocket } from '../formats/runtime/shim-socket.ts';
import type { FileRequest, FileResult } from '../host/port.ts';
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

/** All but config.json are a few bytes each. */
const SMALL_BYTES = 64 << 10;

/** execve takes 2 MB of arguments and environment, kubelet 256 KiB of annotations. */
const LARGE_CONFIG_BYTES = 4 << 20;

/** Bundles per call: their config.json together are some megabytes, and are forgotten before the next ones are read. */
const PER_CALL = 64;

/** What is known of the shims before their bundles are read: by path of the bundle. */
export type KnownShims = ReadonlyMap<string, { readonly runcRoot: string | null }>;

/**
 * Reads them all, and of each no more than is needed: an open costs some 30 us in a probe, and a node may have a thousand
 * bundles. What most of them do not need (they have a CRI annotation, and runc's state at its usual place) is asked for
 * in a second round.
 */
export async function readBundles(
  places: readonly BundlePlace[],
  shims: KnownShims,
  reads: Reads,
): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = [];
  for (let at = 0; at < places.length; at += PER_CALL) {
    const some = places.slice(at, at + PER_CALL);
    const begun = await reads.read(some.flatMap(place => firstRequests(place, shims)));
    const first = new Map([...begun, ...(await largeConfigs(some, begun, reads))]);
    const drafts = some.map(place => bundleOf(place, first, shims));
    const more = await reads.read(drafts.flatMap(draft => moreRequests(draft, shims)));
    const files = new Map([...first, ...more]);
    bundles.push(...some.map(place => bundleOf(place, files, shims)));
  }
  // Where docker and v1 shims have runc keep its state, only options.json said.
  const elsewhere = bundles.filter(
    bundle => bundle.runc === null && bundle.runcDirectory !== usualDirectory(bundle, shims),
  );
  const states = await reads.read(elsewhere.map(bundle => stateRequest(bundle.runcDirectory)));
  const found = new Map(elsewhere.map(bundle => [bundle, runcOf(bundle.runcDirectory, states)]));
  return bundles.map(bundle => ({ ...bundle, runc: bundle.runc ?? found.get(bundle) ?? null }));
}

/**
 * A large environment (envFrom) stands before the annotations, which say whose container it is, and moves them behind what is
 * read of a file. One after another, and of each only what is asked for is kept.
 */
async function largeConfigs(places: readonly BundlePlace[], files: ReadFiles, reads: Reads): Promise<ReadFiles> {
  const whole = new Map<string, FileResult>();
  for (const place of places) {
    const path = `${pathOf(place)}/config.json`;
    if (files.get(path)?.outcome !== 'truncated') continue;
    const file = (await reads.read([{ path, maxBytes: LARGE_CONFIG_BYTES }])).get(path);
    const config = file?.outcome === 'ok' ? parseOciConfig(file.body.toString('utf8')) : null;
    if (file !== undefined && config !== null) whole.set(path, { ...file, body: configText(config) });
  }
  return whole;
}

function configText({ annotations, cgroupsPath, mounts }: OciConfig): Buffer {
  const listed = [...mounts].map(([destination, source]) => ({ destination, source }));
  const spec = { annotations: Object.fromEntries(annotations), linux: { cgroupsPath }, mounts: listed };
  return Buffer.from(JSON.stringify(spec));
}

function firstRequests(place: BundlePlace, shims: KnownShims): readonly FileRequest[] {
  const state = stateRequest(usualDirectory(place, shims));
  if (place.deleted) return [state];
  const path = pathOf(place);
  const config = { path: `${path}/config.json` };
  if (!shims.has(path)) return [config, state];
  return [config, ...small(path, ['address', 'bootstrap.json']), { path: `${path}/work`, what: 'link' }, state];
}

function moreRequests({ path, deleted, cri, docker, runc }: Bundle, shims: KnownShims): readonly FileRequest[] {
  if (deleted) return [];
  const belongs = cri.sandboxId !== null || docker !== null;
  return [
    ...(belongs ? [] : small(path, ['sandbox', ...(shims.has(path) ? [] : ['address', 'bootstrap.json'])])),
    ...(runc !== null ? [] : small(path, ['init.pid', 'options.json'])),
  ];
}

function small(path: string, names: readonly string[]): readonly FileRequest[] {
  return names.map(name => ({ path: `${path}/${name}`, maxBytes: SMALL_BYTES }));
}

function stateRequest(directory: string): FileRequest {
  return { path: `${directory}/state.json`, maxBytes: RUNC_STATE_BEGINNING_BYTES };
}

function pathOf({ place, dir }: BundlePlace): string {
  return place.view.prefix + dir;
}

/** The directory that is known before the bundle was read. */
function usualDirectory(bundle: BundlePlace, shims: KnownShims): string {
  return runcDirectoryIn(bundle, shims.get(pathOf(bundle))?.runcRoot ?? RUNC_ROOT);
}

function runcDirectoryIn({ place, id }: BundlePlace, root: string): string {
  return `${place.view.prefix}${root}/${place.namespace}/${id}`;
}

function runcOf(directory: string, files: ReadFiles): RuncState | null {
  return parseRuncState(textOf(files, `${directory}/state.json`) ?? '');
}

function bundleOf(place: BundlePlace, files: ReadFiles, shims: KnownShims): Bundle {
  const path = pathOf(place);
  const text = (name: string) => textOf(files, `${path}/${name}`) ?? '';
  const config = parseOciConfig(text('config.json'));
  const options = parseObject(text('options.json'));
  const known = usualDirectory(place, shims);
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
