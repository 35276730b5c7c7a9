/** How paths of another mount namespace (kind, snaps) stand in an inventory: behind the root of a process in it. */
const OTHER_NAMESPACE = /^\/proc\/\d+\/root(?=\/)/;

/** `/proc/<pid>/root` of a path in another mount namespace, else ''. */
export function prefixOf(path: string): string {
  return OTHER_NAMESPACE.exec(path)?.[0] ?? '';
}

/** The path as the processes of its own mount namespace know it: as it stands in mountinfo. */
export function insideNamespace(path: string): string {
  return path.replace(OTHER_NAMESPACE, '');
}
