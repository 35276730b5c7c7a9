import type { Facts } from '../../diagnosis/facts.ts';

/** Shorter names are words of many texts: replacing them would tear those. */
const SHORTEST = 3;

/** containerd's log names every pod that it makes: fmt's %v of runtime.PodSandboxMetadata. */
const METADATA = /PodSandboxMetadata\{Name:[^,]{0,253},Uid:[^,]{0,64},Namespace:[^,}]{0,63}/g;

/**
 * Takes names out of a text that is to be public: the host's, the pod's, its namespace's and uid's, of other pods as far as the
 * bundle knows them. Ids stay: they tell lines apart, and say nothing.
 */
export function anonymous({ capture, target, writers }: Facts): (words: string) => string {
  const { target: meant } = target;
  const pod = meant.kind === 'sandbox' ? meant.sandbox.pod : meant.kind === 'remnant' ? meant.remnant.pod : null;
  const others = (writers?.all ?? []).filter(({ ofTarget, podUid }) => !ofTarget && podUid !== null);
  const names: [string, string][] = [
    [`${pod?.namespace}/${pod?.name}`, 'namespace/pod'],
    [capture.hostname, 'node'],
    [pod?.name ?? '', 'pod'],
    [pod?.namespace ?? '', 'namespace'],
    [pod?.uid ?? '', 'pod-uid'],
    ...others.map(({ name }, index): [string, string] => [name, `other-pod-${index + 1}`]),
  ];
  const known = names.filter(([name]) => name.length >= SHORTEST).toSorted(([a], [b]) => b.length - a.length);
  const replacements = new Map(known);
  const any = new RegExp(`(?<![\\w.])(?:${known.map(([name]) => literal(name)).join('|')})(?![\\w])`, 'g');
  return words => {
    const others = words.replace(METADATA, 'PodSandboxMetadata{Name:pod,Uid:pod-uid,Namespace:namespace');
    return known.length === 0 ? others : others.replace(any, name => replacements.get(name) ?? name);
  };
}

/** RegExp.escape is there from Node 24 on. */
function literal(words: string): string {
  return words.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
