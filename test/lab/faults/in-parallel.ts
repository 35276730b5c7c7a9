/** Does something with each of the items, so many at a time. The results are in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  atATime: number,
  use: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const left = [...items.entries()];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) results[next[0]] = await use(next[1]);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}
