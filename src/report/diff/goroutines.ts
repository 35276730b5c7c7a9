import type { Citation } from '../../diagnosis/citation.ts';
import type { Facts, GoroutineFact } from '../../diagnosis/facts.ts';

export interface GoroutineChanges {
  /** The same goroutine in the same place in both. */
  readonly aged: readonly {
    readonly shimPid: number;
    readonly id: number;
    readonly at: string;
    readonly rpc: string | null;
    readonly minutes: number | null;
    readonly cite: Citation;
  }[];
  /** More goroutines at one place than before. */
  readonly multiplied: readonly { readonly at: string; readonly before: number; readonly after: number }[];
}

const MAX_GOROUTINES = 50;

/** What the goroutines of the shims do in B that they did in A. */
export function goroutinesBetween(a: Facts, b: Facts): GoroutineChanges {
  const before = new Map(dumped(a).map(one => [`${one.shimPid}/${one.goroutine.id}`, one.goroutine]));
  // Wait waits for the end of a process, as long as that lives.
  const aged = dumped(b).flatMap(({ shimPid, goroutine }) => {
    const was = before.get(`${shimPid}/${goroutine.id}`);
    if (goroutine.rpc === null || goroutine.rpc === 'Wait' || was === undefined || stackOf(was) !== stackOf(goroutine))
      return [];
    const { id, rpc, minutes, cite } = goroutine;
    return [{ shimPid, id, at: topOf(goroutine), rpc, minutes, cite }];
  });
  const [counts, later] = [countsOf(a), countsOf(b)];
  const multiplied = [...later].flatMap(([stack, { at, count }]) => {
    const was = counts.get(stack)?.count ?? 0;
    return count > was && count > 1 ? [{ at, before: was, after: count }] : [];
  });
  return { aged: aged.slice(0, MAX_GOROUTINES), multiplied: multiplied.slice(0, MAX_GOROUTINES) };
}

function dumped({ goroutines }: Facts): readonly { readonly shimPid: number; readonly goroutine: GoroutineFact }[] {
  return (goroutines ?? []).flatMap(({ shimPid, all }) => all.map(goroutine => ({ shimPid, goroutine })));
}

const stackOf = ({ frames }: GoroutineFact) => frames.map(({ function: name, line }) => `${name}:${line}`).join('\n');
const topOf = ({ frames }: GoroutineFact) =>
  frames
    .slice(0, 4)
    .map(({ function: name }) => name.slice(name.lastIndexOf('/') + 1))
    .join(' ← ');

function countsOf(facts: Facts): ReadonlyMap<string, { readonly at: string; readonly count: number }> {
  const all = Map.groupBy(dumped(facts), ({ goroutine }) => stackOf(goroutine));
  return new Map(
    [...all].map(([stack, of]) => [stack, { at: of[0] === undefined ? '' : topOf(of[0].goroutine), count: of.length }]),
  );
}
