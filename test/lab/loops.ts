import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { bounded } from './run.ts';
import { until } from './wait.ts';

/** Loop devices whose backing file lies under a folder: '/dev/loop0'. */
export function loopsUnder(path: string): string[] {
  return readdirSync('/sys/block')
    .filter(name => name.startsWith('loop'))
    .filter(name => backing(name).startsWith(`${path}/`))
    .map(name => `/dev/${name}`);
}

function backing(name: string): string {
  const file = `/sys/block/${name}/loop/backing_file`;
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  } catch {
    return '';
  }
}

/** Detaches them. One that is still in use detaches itself with its last user. */
export async function detachLoops(path: string): Promise<void> {
  for (const device of loopsUnder(path)) await bounded('losetup', ['-d', device], 5000);
  await until(`loop devices under ${path} to go`, 10_000, () => loopsUnder(path).length === 0).catch(() => undefined);
}
