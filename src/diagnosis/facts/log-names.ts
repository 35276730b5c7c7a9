import type { LogSource } from '../facts.ts';
import { copy } from './log-event.ts';

const MAX_NAMES = 5000;

/** `shop/web-0` by uid of the pod, and by id of the sandbox. */
export interface PodNames {
  readonly byUid: Map<string, string>;
  readonly byId: Map<string, string>;
}

/** What a daemon says of itself when it starts. */
export function learnVersion(line: string, source: LogSource, versions: Map<LogSource, string>): void {
  if (!line.includes('starting containerd') && !line.includes('ubeletVersion')) return;
  const version = VERSION.exec(line)?.[1];
  if (version !== undefined) versions.set(source, copy(version));
}

/** `msg="starting containerd" revision=… version=1.6.20`, `"Kubelet version" kubeletVersion="v1.28.3"`, in JSON with colons. */
const VERSION = /(?:starting containerd.{0,300}version"?[=:]"?|[kK]ubeletVersion"?[=:]"?v?)([\w.+~-]+)/;

const SANDBOX_METADATA = /PodSandboxMetadata\{Name:([^,{}]{1,253}),Uid:([^,{}]{1,64}),Namespace:([^,{}]{1,63}),/;
const SANDBOX_RETURNS = /returns sandbox id \\?"([0-9a-f]{64})/;
const KUBELET_POD = /pods?="?\[?"?([a-z0-9.-]{1,63}\/[a-z0-9.-]{1,253})"?\]?"? podUID="?([0-9a-f-]{36})/;

/** Which pod a uid or a sandbox is: containerd's RunPodSandbox, kubelet's structured lines. */
export function learnNames(line: string, names: PodNames): void {
  if (names.byUid.size >= MAX_NAMES) return;
  if (line.includes('PodSandboxMetadata{')) {
    const [, name, uid, namespace] = SANDBOX_METADATA.exec(line) ?? [];
    if (name === undefined || uid === undefined) return;
    const full = copy(`${namespace}/${name}`);
    names.byUid.set(copy(uid), full);
    const id = SANDBOX_RETURNS.exec(line)?.[1];
    if (id !== undefined) names.byId.set(copy(id), full);
  } else if (line.includes('podUID=')) {
    const [, name, uid] = KUBELET_POD.exec(line) ?? [];
    if (name !== undefined && uid !== undefined && !names.byUid.has(uid)) names.byUid.set(copy(uid), copy(name));
  }
}
