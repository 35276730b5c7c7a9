import type { Goroutine } from './goroutine.ts';

/** Goroutines that stand at the same place, as a reader wants to see them: once, with their number and ages. */
export interface GoroutineGroup {
  /** One of them; the arguments of the others may differ. */
  readonly example: Goroutine;
  readonly ids: readonly number[];
  /** Minutes of waiting, the longest and the shortest; null below one minute. */
  readonly oldestMinutes: number | null;
  readonly youngestMinutes: number | null;
}

const positions = (goroutine: Goroutine) =>
  [
    goroutine.state,
    ...goroutine.frames.map(({ function: name, file, line }) => `${name} ${file}:${line}`),
    goroutine.createdBy === null ? '' : `${goroutine.createdBy.function}:${goroutine.createdBy.line}`,
  ].join('\n');

/** Same state, functions, positions and creator. The largest group first; of equal ones the one that comes first in the dump. */
export function groupByStack(goroutines: readonly Goroutine[]): readonly GoroutineGroup[] {
  return [...Map.groupBy(goroutines, positions).values()]
    .map((members): GoroutineGroup => {
      const minutes = members.map(member => member.minutes ?? 0);
      const oldest = minutes.reduce((most, value) => Math.max(most, value), 0);
      const youngest = minutes.reduce((least, value) => Math.min(least, value), oldest);
      return {
        example: members[0] as Goroutine,
        ids: members.map(({ id }) => id),
        oldestMinutes: oldest === 0 ? null : oldest,
        youngestMinutes: youngest === 0 ? null : youngest,
      };
    })
    .sort((one, other) => other.ids.length - one.ids.length);
}
