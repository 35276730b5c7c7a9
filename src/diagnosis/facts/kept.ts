/** Which entries are kept whole until the facts are made; logs and samples pass by, and what is in neither list is not read. */
const KEPT: readonly RegExp[] = [
  /^shim(?:\/\d+)?\/(?:(?:threads|children)-\d+\.txt|children\.txt|fd\.txt|goroutines\.txt|mountinfo|cgroup)$/,
  /^containers\/[^/]+\/(?:threads-\d+\.txt|cgroup\.txt|bundle\.txt|runc\.txt|runc\/state\.json|bundle\/log\.json)$/,
  /^containers\/[^/]+\/(?:status\.json|status\.stat|config\.v2\.json|config\.v2\.stat)$/,
  /^node\/(?:blocked\.txt|mountinfo|disks\.txt|fuse\.txt|holders\.txt|sandboxes\.txt|cgroups\.txt|cgroups|diskstats|meminfo|pressure\/\w+)$/,
  /^runtime\/(?:\w+-commands(?:-\d+)?\.jsonl|(?:crictl|docker)-(?:inspect|version)[\w-]*\.txt)$/,
  /^runtime\/views\.json$/,
  /^attached\/[^/]+$/,
  /^daemons\/[\w./-]+\.txt$/,
  /^logs\/kernel\.log$/,
];

/** More than any entry of these has: 20,000 threads in D are 20 MB, the kernel's ring 8 MB. */
export const KEPT_BYTES = 24 * 1024 * 1024;

/** Of all of them together. What comes after is treated as cut. */
export const KEPT_BYTES_IN_ALL = 80 * 1024 * 1024;

export function isKept(path: string): boolean {
  return KEPT.some(form => form.test(path));
}
