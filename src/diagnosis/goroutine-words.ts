/** What a goroutine of a shim is doing, in the words of whoever reads a dump for the first time. */

import { formatDuration } from '../formats/duration.ts';
import { isFunction } from '../formats/goroutines/goroutine.ts';
import type { GoroutineFact } from './types/goroutines.ts';

/** The innermost of these says it. */
const DOING: readonly (readonly [string, string])[] = [
  ['unix.Unmount', 'Unmount'],
  ['unix.Mount', 'Mount'],
  ['mount.unmountFUSE', 'the unmount of a FUSE filesystem'],
  ['unix.Statfs', 'Statfs'],
  ['process.waitTimeout', 'waiting for the end of its output'],
  ['(*Runc).Create', 'runc create'],
  ['(*Runc).Start', 'runc start'],
  ['(*Runc).Kill', 'runc kill'],
  ['(*Runc).Delete', 'runc delete'],
  ['(*Runc).Exec', 'runc exec'],
  ['(*Runc).Events', 'runc events'],
  ['(*Socket).ReceiveMaster', 'waiting for a terminal from runc'],
];

/** `Unmount`, `runc delete`; the innermost function that is not Go's own where none of them is in its stack. */
export function doing({ frames }: Pick<GoroutineFact, 'frames'>): string {
  for (const frame of frames) {
    const words = DOING.find(([name]) => isFunction(frame, name))?.[1];
    if (words !== undefined) return words;
  }
  const own = frames.find(({ function: name }) => name.includes('/')) ?? frames[0];
  return own === undefined ? 'an unknown place' : own.function.slice(own.function.lastIndexOf('/') + 1);
}

/** `, 14 min`; empty below one minute, which dumps do not tell. */
export function minutesWords({ minutes }: Pick<GoroutineFact, 'minutes'>): string {
  return minutes === null ? '' : `, ${formatDuration(minutes * 60_000)}`;
}
