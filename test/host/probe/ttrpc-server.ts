import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { decodeMessage, encodeMessage } from '../../../src/formats/protobuf/message.ts';
import { encodeFrame, RESPONSE, TtrpcFrameReader } from '../../../src/formats/ttrpc/frame.ts';

/** A call as it came in. */
export interface Asked {
  readonly service: string;
  readonly method: string;
  readonly id: string;
}

/** A payload, a status, or nothing at all. */
export type Answer = Buffer | { readonly code: number; readonly message: string } | null;

export interface TtrpcServer extends AsyncDisposable {
  readonly asked: readonly Asked[];
}

/** A ttrpc server that answers as a shim would not: late, never, or with nonsense. Real shims are asked in test/lab. */
export async function serveTtrpc(
  path: string,
  answer: (asked: Asked) => Answer | Promise<Answer>,
): Promise<TtrpcServer> {
  const asked: Asked[] = [];
  return listen(path, asked, (socket, reader, chunk) => {
    for (const { stream, body } of reader.push(chunk)) {
      const request = decodeMessage({ service: [1, 'text'], method: [2, 'text'], payload: [3, 'bytes'] }, body);
      if (request === null) throw new Error('a request that cannot be read');
      const { id } = decodeMessage({ id: [1, 'text'] }, request.payload) ?? { id: '?' };
      const call = { service: request.service, method: request.method, id };
      asked.push(call);
      void Promise.resolve(answer(call)).then(said => {
        if (said !== null) socket.write(encodeFrame({ stream, type: RESPONSE, flags: 0, body: responseOf(said) }));
      });
    }
  });
}

/** Something that listens and answers the first thing it hears with these bytes. */
export function serveBytes(path: string, bytes: Buffer | 'hang up'): Promise<TtrpcServer> {
  return listen(path, [], socket => void (bytes === 'hang up' ? socket.destroy() : socket.write(bytes)));
}

async function listen(
  path: string,
  asked: readonly Asked[],
  take: (socket: Socket, reader: TtrpcFrameReader, chunk: Buffer) => void,
): Promise<TtrpcServer> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    const reader = new TtrpcFrameReader();
    sockets.add(socket);
    socket.on('data', chunk => take(socket, reader, chunk));
    socket.on('error', () => {});
  });
  server.listen({ path, backlog: 511 });
  await once(server, 'listening');
  return {
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function responseOf(said: NonNullable<Answer>): Buffer {
  const shape = { status: [1, { code: [1, 'number'], message: [2, 'text'] }], payload: [2, 'bytes'] } as const;
  return encodeMessage(shape, Buffer.isBuffer(said) ? { payload: said } : { status: said });
}
