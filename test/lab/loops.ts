import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { bounded } from './run.ts';
import { until } from './wait.ts';

/**
 * Loop devices of a lab's folder: '/dev/loop0'. Images carry the folder's name, since the path that the kernel shows
 * loses its front when the filesystem below is unmounted.
 */
export function loopsOf(name: string): string[] {
  return readdirSync('/sys/block')
    .filter(device => device.startsWith('loop') && backing(device).includes(name))
    .map(device => `/dev/${device}`);
}

function backing(device: string): string {
  const file = `/sys/block/${device}/loop/backing_file`;
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  } catch {
    return '';
  }
}

/** Detaches them. One that is still in use detaches itself with its last user. */
export async function detachLoops(name: string): Promise<void> {
  for (const device of loopsOf(name)) await bounded('losetup', ['-d', device], 5000);
  await until(`loop devices of ${name} to go`, 10_000, () => loopsOf(name).length === 0).catch(() => undefined);
}
