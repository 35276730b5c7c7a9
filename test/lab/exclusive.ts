import { createServer } from 'node:net';
import { until } from './wait.ts';

/**
 * Holds a name that only one process of this machine can hold, as an abstract unix socket: the kernel
 * gives it back when the holder dies, however it dies.
 * @param name without NUL, shorter than 100 bytes
 * @throws Error when another process still holds it after `deadlineMs`
 */
export async function exclusive(name: string, deadlineMs: number): Promise<AsyncDisposable> {
  const take = () =>
    new Promise<AsyncDisposable | null>((resolve, reject) => {
      const server = createServer(socket => socket.destroy());
      server.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
      );
      server.listen(`\0${name}`, () => {
        server.unref();
        resolve({ [Symbol.asyncDispose]: () => new Promise(done => server.close(() => done())) });
      });
    });
  return until(`the name ${name}, held by another process`, deadlineMs, take, 50);
}
