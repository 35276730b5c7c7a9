import type { ContainerdOptions } from '../containerd.ts';
import { newerContainerd } from '../newer-containerd.ts';

/** Each containerd that the lab can have, oldest first. */
export const VERSIONS = [
  { version: '1.6', release: null },
  { version: '1.7', release: 'trixie' },
  { version: '2.x', release: 'forky' },
] as const;

/** For `startContainerd`; or why there is none here. */
export async function containerdOf({
  release,
}: (typeof VERSIONS)[number]): Promise<Pick<ContainerdOptions, 'bin'> | { readonly reason: string }> {
  return release === null ? {} : newerContainerd(release);
}
