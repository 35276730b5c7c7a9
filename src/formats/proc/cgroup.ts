/** /proc/<pid>/cgroup: cgroups(7), kernel kernel/cgroup/cgroup.c proc_cgroup_show. */
export interface CgroupMembership {
  /** 0 for the unified hierarchy (v2). */
  readonly hierarchy: number;
  /** `cpu`, `cpuacct`; `name=systemd`; none for v2. */
  readonly controllers: readonly string[];
  /** Below the mount point of the hierarchy, as seen from the reader's cgroup namespace: `/../..` leads out of it. */
  readonly path: string;
  /** The cgroup was removed under the process (` (deleted)`, v2). */
  readonly deleted: boolean;
}

export interface Cgroups {
  readonly memberships: readonly CgroupMembership[];
  /** `v2`: unified alone · `v1`: none unified · `hybrid`: both, controllers bound to v1 · null: nothing to go by. */
  readonly mode: 'v1' | 'v2' | 'hybrid' | null;
}

/** `5:devices:/a`, `0::/a`. A path may hold colons, so only the first two part the fields. */
export function parseCgroups(text: string): Cgroups {
  const memberships: CgroupMembership[] = [];
  for (const line of text.split('\n')) {
    const [, hierarchy, controllers = '', path = ''] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (hierarchy === undefined) continue;
    const deleted = hierarchy === '0' && path.endsWith(' (deleted)');
    memberships.push({
      hierarchy: Number(hierarchy),
      controllers: controllers === '' ? [] : controllers.split(','),
      path: deleted ? path.slice(0, -' (deleted)'.length) : path,
      deleted,
    });
  }
  const unified = memberships.some(({ hierarchy }) => hierarchy === 0);
  const legacy = memberships.some(({ hierarchy }) => hierarchy !== 0);
  return { memberships, mode: unified ? (legacy ? 'hybrid' : 'v2') : legacy ? 'v1' : null };
}

/** The path in the hierarchy that a v1 controller (`freezer`, `blkio`) is bound to; null where it is bound to none. */
export function v1Path(cgroups: Cgroups, controller: string): string | null {
  return cgroups.memberships.find(({ controllers }) => controllers.includes(controller))?.path ?? null;
}

/** The path in the unified hierarchy; null without one. In hybrid mode it carries no controllers, but PSI and the freezer. */
export function v2Path(cgroups: Cgroups): string | null {
  return cgroups.memberships.find(({ hierarchy }) => hierarchy === 0)?.path ?? null;
}
