import leven from 'leven';

/** At most three names that `asked` may have been meant for, nearest first: two typing errors, or a beginning. */
export function nearest(asked: string, names: readonly string[]): readonly string[] {
  return names
    .map(name => ({ name, distance: asked.length > 1 && name.startsWith(asked) ? 0 : leven(asked, name) }))
    .filter(({ name, distance }) => distance <= Math.min(2, Math.floor(name.length / 2)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}
