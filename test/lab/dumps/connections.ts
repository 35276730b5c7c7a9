import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Pod } from '../pod.ts';
import { until } from '../wait.ts';

/** Where a shim listens: `address` in its bundle directory until containerd 1.7, `bootstrap.json` since 2.0. */
function socketOf({ bundle }: Pick<Pod, 'bundle'>): string {
  const bootstrap = join(bundle, 'bootstrap.json');
  const address = existsSync(bootstrap)
    ? (JSON.parse(readFileSync(bootstrap, 'utf8')) as { address: string }).address
    : readFileSync(join(bundle, 'address'), 'utf8');
  return address.replace('unix://', '');
}

/** Clients of a shim that ask nothing: each costs it two goroutines, as clients that leak do in the field. */
export async function idleConnections(pod: Pick<Pod, 'bundle'>, count: number): Promise<Disposable> {
  const path = socketOf(pod);
  const sockets: Socket[] = Array.from({ length: count }, () => connect(path).on('error', () => undefined));
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  try {
    await until('all connections', 20_000, () => sockets.every(socket => !socket.connecting));
  } catch (error) {
    close();
    throw error;
  }
  return { [Symbol.dispose]: close };
}
