import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { promisify } from 'node:util';
import { status as grpcStatus, Server, ServerCredentials } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { status } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';
import { hostWithSockets } from './host-with-sockets.ts';
import { serveBytes } from './ttrpc-server.ts';

const { host, newPath } = await hostWithSockets();

/** A process that listens and is stopped: its kernel takes connections and what is sent on them. */
async function withStopped(path: string, during: () => Promise<void>): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    await until('it to be stopped', 5000, () => status(child.pid ?? 0)?.state === 'T');
    await during();
  } finally {
    child.kill('SIGKILL');
  }
}

describe('docker that is asked over its socket', () => {
  const get = (path: string, ...paths: readonly string[]) => host.askHttp(path, paths, { deadlineMs: 10_000 });
  const serve = async (answer: RequestListener) => {
    const path = newPath();
    const server = createServer(answer).listen(path);
    await once(server, 'listening');
    const close = () => new Promise<void>(resolve => server.close(() => resolve()));
    return {
      path,
      [Symbol.asyncDispose]: () => {
        server.closeAllConnections();
        return close();
      },
    };
  };

  it('answers each path with its status and its body', async () => {
    await using docker = await serve((asked, response) => {
      if (asked.url === '/containers/app/json') response.end('{"Id":"app"}');
      else response.writeHead(404).end('{"message":"No such container"}');
    });
    const [app, other] = await get(docker.path, '/containers/app/json', '/containers/x/json');
    expect(app).toMatchObject({ outcome: 'ok', status: 200, path: '/containers/app/json' });
    expect(`${app?.body}`).toBe('{"Id":"app"}');
    expect(other).toMatchObject({ outcome: 'error', status: 404, detail: 'HTTP status 404' });
    expect(`${other?.body}`).toContain('No such container');
  });

  it('may hang for one container and answer for the other', async () => {
    await using docker = await serve((asked, response) => {
      if (asked.url === '/half') response.write('{"Id":');
      else if (asked.url !== '/hangs') response.end('{}');
    });
    const started = performance.now();
    const calls = await get(docker.path, '/hangs', '/answers', '/half');
    expect(calls.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ['timeout', 'no answer within 2000 ms'],
      ['ok', undefined],
      ['timeout', 'no answer within 2000 ms'],
    ]);
    expect(performance.now() - started).toBeLessThan(3500);
  });

  it('is not read beyond 4 MiB, nor where it is not there, stopped, or none', async () => {
    await using docker = await serve((_, response) => void response.end(Buffer.alloc(5 << 20, 'x')));
    const [large] = await get(docker.path, '/');
    expect([large?.outcome, large?.body.length]).toEqual(['truncated', 4 << 20]);
    expect((await get('/no/such.sock', '/'))[0]).toMatchObject({ outcome: 'gone', detail: 'ENOENT' });
    const garbage = newPath();
    await using _ = await serveBytes(garbage, Buffer.from('no HTTP\r\n\r\n'));
    expect((await get(garbage, '/'))[0]).toMatchObject({ outcome: 'error', status: null });
    const stopped = newPath();
    await withStopped(stopped, async () => {
      expect((await get(stopped, '/'))[0]).toMatchObject({ outcome: 'timeout' });
    });
  });
});

describe('a runtime that is asked over CRI', () => {
  const ask = (path: string) =>
    host.askCri(
      path,
      [
        { method: 'ListContainers', sandboxId: 'pod' },
        { method: 'ContainerStatus', id: 'app' },
      ],
      { deadlineMs: 10_000 },
    );

  async function serve(service: string, answers: Readonly<Record<string, Buffer | null>>) {
    const server = new Server();
    const path = newPath();
    const same = (bytes: Buffer) => bytes;
    for (const [name, answer] of Object.entries(answers)) {
      const unary = { path: `/${service}/${name}`, requestStream: false, responseStream: false } as const;
      const definition = {
        [name]: {
          ...unary,
          requestSerialize: same,
          requestDeserialize: same,
          responseSerialize: same,
          responseDeserialize: same,
        },
      };
      server.addService(definition, {
        [name]: (_: unknown, done: (error: object | null, answer?: Buffer) => void) => {
          if (answer !== null) done(null, answer);
        },
      });
    }
    await promisify(server.bindAsync.bind(server))(`unix:${path}`, ServerCredentials.createInsecure());
    return { path, [Symbol.dispose]: () => server.forceShutdown() };
  }

  const LIST = Buffer.from('0a070a036170703001', 'hex');
  const STATUS = Buffer.from('0a070a036170701801', 'hex');

  it('answers by either version of the API', async () => {
    for (const service of ['runtime.v1.RuntimeService', 'runtime.v1alpha2.RuntimeService']) {
      using cri = await serve(service, { ListContainers: LIST, ContainerStatus: STATUS });
      expect(await ask(cri.path)).toMatchObject([
        { service, outcome: 'ok', answer: { containers: [{ id: 'app', state: 'CONTAINER_RUNNING' }] } },
        { service, outcome: 'ok', question: { id: 'app' }, answer: { status: { state: 'CONTAINER_RUNNING' } } },
      ]);
    }
  });

  it('may hang in one call and answer the other', async () => {
    using cri = await serve('runtime.v1.RuntimeService', { ListContainers: LIST, ContainerStatus: null });
    const started = performance.now();
    expect(await ask(cri.path)).toMatchObject([
      { outcome: 'ok' },
      { outcome: 'timeout', answer: null, detail: 'no answer within 2000 ms' },
    ]);
    expect(performance.now() - started).toBeLessThan(3500);
  });

  it('may say no, or answer garbage', async () => {
    using cri = await serve('runtime.v1.RuntimeService', { ContainerStatus: Buffer.from('0aff', 'hex') });
    const [list, container] = await ask(cri.path);
    expect(list).toMatchObject({ outcome: 'error', status: { code: grpcStatus.UNIMPLEMENTED } });
    expect(container).toMatchObject({ outcome: 'error', detail: 'an answer that is none of this call' });
  });

  it('may not be there, be stopped, or be something else', async () => {
    expect((await ask('/no/such.sock'))[0]).toMatchObject({ outcome: 'gone' });
    const path = newPath();
    await using _ = await serveBytes(path, 'hang up');
    expect((await ask(path))[0]?.outcome).toMatch(/error|timeout/);
    const stopped = newPath();
    await withStopped(stopped, async () => {
      const started = performance.now();
      expect((await ask(stopped))[0]).toMatchObject({ outcome: 'timeout' });
      expect(performance.now() - started).toBeLessThan(3500);
    });
    expect(host.stuckProbes).toEqual([]);
  });
});
