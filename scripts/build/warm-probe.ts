import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { monotonicMs } from '../../src/host/clock.ts';
import type * as Commands from '../../src/host/probe/commands.ts';
import type * as Cri from '../../src/host/probe/cri.ts';
import type * as Sockets from '../../src/host/probe/sockets.ts';
import { load } from './load.ts';

/** Uses what a probe loads late as a probe does, each way it can end, so that the code caches know what a probe needs. */
const folder = mkdtempSync(`${tmpdir()}/stallcap-build-`);
try {
  await warmCommands(load<typeof Commands>('commands'));
  await warmSockets(load<typeof Sockets>('sockets'));
  await warmCri(load<typeof Cri>('cri'));
} finally {
  rmSync(folder, { recursive: true });
}

async function warmCommands({ runCommand }: typeof Commands): Promise<void> {
  for (const [argv, timeoutMs] of [
    [['sh', '-c', 'echo out; echo err >&2; exit 3'], 5000],
    [['sleep', '5'], 50],
    [['no-such-program-anywhere'], 50],
  ] as const) {
    await runCommand({ argv, timeoutMs }, monotonicMs() + timeoutMs);
  }
}

async function warmSockets({ askShims, getAll }: typeof Sockets): Promise<void> {
  const path = `${folder}/shim.sock`;
  await using _ = await serve(path, answerConnect);
  const question = { prefix: '', apis: ['v2', 'v3'], namespace: 'k8s.io', id: 'pod', containers: ['app'] } as const;
  const questions = [`unix://${path}`, '/no-such-shim'].map(socket => ({ ...question, socket }));
  await askShims(questions, monotonicMs() + 100, () => {});

  const http = createHttpServer((_, response) => response.end('{}')).listen(`${folder}/http.sock`);
  await once(http, 'listening');
  await getAll(`${folder}/http.sock`, ['/', '/'], monotonicMs() + 1000, () => {});
  http.close();
}

/** A CRI service that answers every call with an empty message. */
async function warmCri({ askCri }: typeof Cri): Promise<void> {
  const server = new Server();
  const empty = () => Buffer.alloc(0);
  const method = { requestStream: false, responseStream: false, requestDeserialize: empty, responseSerialize: empty };
  const path = '/runtime.v1.RuntimeService/Version';
  const definition = { Version: { ...method, path, requestSerialize: empty, responseDeserialize: empty } };
  server.addService(definition, {
    Version: (_: unknown, done: (error: null, answer: Buffer) => void) => done(null, empty()),
  });
  const bind = promisify(server.bindAsync.bind(server));
  await bind(`unix:${folder}/cri.sock`, ServerCredentials.createInsecure());
  const questions = [{ method: 'Version' }, { method: 'ListContainers', sandboxId: 'pod' }] as const;
  await askCri(`${folder}/cri.sock`, questions, monotonicMs() + 2000, () => {});
  server.forceShutdown();
  await askCri('/no-such-socket', questions, monotonicMs() + 100, () => {});
}

/** A ConnectResponse to whoever opens stream 1, and silence to State on stream 3. */
function answerConnect(socket: Socket, chunk: Buffer): void {
  if (chunk.readUInt32BE(4) === 1) socket.write(Buffer.from('00000008000000010200120608fe12109613', 'hex'));
}

async function serve(path: string, answer: (socket: Socket, chunk: Buffer) => void): Promise<AsyncDisposable> {
  const server = createServer(socket => {
    socket.on('error', () => {});
    socket.on('data', chunk => answer(socket, chunk));
  }).listen(path);
  await once(server, 'listening');
  return { [Symbol.asyncDispose]: () => new Promise(resolve => server.close(() => resolve())) };
}
