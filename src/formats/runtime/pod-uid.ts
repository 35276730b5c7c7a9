/** A uid, or the 32 hex digits of a static pod's hash. systemd's unit names hold `_` where the uid has `-`. */
const UID = '[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32}';
const IN_CGROUP = new RegExp(`(?:^|[/-])pod(${UID})(?=[./:]|$)`, 'm');
const IN_KUBELET = new RegExp(`/pods/(${UID})(?=/|$)`);

/** From a cgroup path of kubelet's: `…/kubepods/burstable/pod<uid>/…`, `…-pod<uid>.slice…`; also from all lines of /proc/<pid>/cgroup. */
export function podUidOfCgroup(path: string): string | null {
  return IN_CGROUP.exec(path)?.[1]?.replaceAll('_', '-') ?? null;
}

/** From a path below kubelet's root: `/var/lib/kubelet/pods/<uid>/etc-hosts`. */
export function podUidOfKubeletPath(path: string): string | null {
  return IN_KUBELET.exec(path)?.[1] ?? null;
}

/** True for what can be a pod's uid. */
export function isPodUid(text: string): boolean {
  return new RegExp(`^(?:${UID})$`).test(text);
}
