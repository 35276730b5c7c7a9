/** Versions, for advice and for kinds that a release has ended. */

/** Whether `version` is older than `than` (`1.7.34`); suffixes of distributions are left aside. Null for an unknown version. */
export function isOlder(version: string | null, than: string): boolean | null {
  const [own, other] = [numbers(version ?? ''), numbers(than)];
  if (own === null || other === null) return null;
  const at = own.findIndex((part, index) => part !== other[index]);
  return at < 0 ? false : (own[at] ?? 0) < (other[at] ?? 0);
}

function numbers(version: string): readonly number[] | null {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined ? null : [major, minor, patch].map(Number);
}
