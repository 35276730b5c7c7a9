import { isDockerName } from './docker-names.ts';
import type { Sandbox } from './types.ts';

/** A sandbox that the user may mean, and by what. */
export interface Match {
  readonly sandbox: Sandbox;
  /** 'container id prefix': for messages and the manifest. */
  readonly how: string;
}

/** A shorter beginning of an id matches by accident; the entry's first look asks for as many. */
export const PREFIX_LENGTH = 4;

/** What kubectl prints as containerID. */
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//;

/** The words as the user may have copied them: `containerd://<id>`, docker's `/name`. */
export function bare(asked: string): string {
  return asked.replace(SCHEME, '').replace(/^\//, '');
}

/** One match for each sandbox. Whole names and ids win over beginnings of ids. */
export function matchesOf(asked: string, sandboxes: readonly Sandbox[]): readonly Match[] {
  const word = bare(asked);
  const whole = find(sandboxes, sandbox => wholly(word, sandbox));
  if (whole.length > 0 || word.length < PREFIX_LENGTH) return whole;
  return find(sandboxes, sandbox => byPrefix(word, sandbox));
}

function find(sandboxes: readonly Sandbox[], how: (sandbox: Sandbox) => string | null): readonly Match[] {
  return sandboxes.flatMap(sandbox => {
    const said = how(sandbox);
    return said === null ? [] : [{ sandbox, how: said }];
  });
}

function wholly(word: string, sandbox: Sandbox): string | null {
  const { id, pod, namespace, containers, shims } = sandbox;
  if (word === id)
    return containers.some(container => container.id === id && container.kind === 'container')
      ? 'container id'
      : 'sandbox id';
  if (containers.some(container => container.id === word) || shims.some(shim => shim.id === word))
    return 'container id';
  if (pod !== null) {
    if (word === `${pod.namespace}/${pod.name}`) return 'namespace and pod name';
    if (word === pod.name) return 'pod name';
    if (pod.uid !== null && sameUid(word, pod.uid)) return 'pod uid';
  } else if (word === `${namespace}/${id}`) {
    return 'containerd namespace and container id';
  }
  return isDockerName(word, sandbox) ? 'docker container name' : null;
}

function byPrefix(word: string, { id, namespace, pod, containers, shims }: Sandbox): string | null {
  if (id.startsWith(word)) return 'sandbox id prefix';
  // As tables show what has no pod: `default/4f1c09ab3d2e`.
  if (pod === null && word.startsWith(`${namespace}/`) && `${namespace}/${id}`.startsWith(word)) {
    return word.length - namespace.length > PREFIX_LENGTH ? 'containerd namespace and container id prefix' : null;
  }
  const others = [...containers, ...shims];
  return others.some(other => other.id.startsWith(word)) ? 'container id prefix' : null;
}

/** systemd's unit names have underscores where a uid has dashes. */
function sameUid(word: string, uid: string): boolean {
  return word.toLowerCase().replaceAll('_', '-') === uid.toLowerCase();
}
