import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShimCall, ShimQuestion } from '../../../src/host/port.ts';
import { status } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';
import { hostWithSockets } from './host-with-sockets.ts';
import { type Answer, type Asked, serveBytes, serveTtrpc } from './ttrpc-server.ts';

const { host, folder, newPath } = await hostWithSockets();
const about = (path: string, more: Partial<ShimQuestion> = {}): ShimQuestion => ({
  ...{ socket: `unix://${path}`, prefix: '', apis: ['v2', 'v3'], namespace: 'k8s.io', id: 'pod', containers: ['app'] },
  ...more,
});
const ask = async (...questions: readonly ShimQuestion[]) => {
  const started = performance.now();
  const calls = await host.askShims(questions, { deadlineMs: 20_000 });
  return { calls, ms: performance.now() - started };
};
const askOne = async (question: ShimQuestion): Promise<readonly ShimCall[]> => (await ask(question)).calls[0] ?? [];

const CONNECTED = Buffer.from('08fe12109613', 'hex');
const RUNNING = Buffer.from('18961320 02'.replace(' ', ''), 'hex');
const healthy = ({ method }: Asked): Answer => (method === 'Connect' ? CONNECTED : RUNNING);

describe('a shim that is asked', () => {
  it('answers Connect, then State of each container, side by side on one connection', async () => {
    const path = newPath();
    await using server = await serveTtrpc(path, healthy);
    const calls = await askOne(about(path, { containers: ['pod', 'app'] }));
    expect(calls).toMatchObject([
      { call: 'Connect', container: null, outcome: 'ok', answer: { shimPid: 2430, taskPid: 2454 } },
      { call: 'State', container: 'pod', outcome: 'ok', answer: { pid: 2454, status: 'RUNNING' } },
      { call: 'State', container: 'app', outcome: 'ok', service: 'containerd.task.v2.Task' },
    ]);
    expect(calls.every(({ latencyMs, offsetMs }) => latencyMs > 0 && latencyMs < 2000 && offsetMs > 0)).toBe(true);
    expect(server.asked.map(({ method, id }) => `${method} ${id}`)).toEqual(['Connect pod', 'State pod', 'State app']);
  });

  it('and that blocks in State is asked once, while its siblings answer', async () => {
    const path = newPath();
    const stuck = Array.from({ length: 20 }, (_, index) => `stuck-${index}`);
    await using server = await serveTtrpc(path, asked => (asked.id.startsWith('stuck') ? null : healthy(asked)));
    const { calls, ms } = await ask(about(path, { containers: ['app', ...stuck] }));
    expect(calls[0]?.slice(0, 2)).toMatchObject([
      { call: 'Connect', outcome: 'ok' },
      { container: 'app', outcome: 'ok' },
    ]);
    const late = calls[0]?.slice(2) ?? [];
    expect(late.map(({ container, outcome }) => [container, outcome])).toEqual(stuck.map(id => [id, 'timeout']));
    for (const { latencyMs, detail } of late) {
      expect(latencyMs).toBeGreaterThan(1990);
      expect(detail).toBe('no answer within 2000 ms');
    }
    // All of them in the time of one. A request of its own for each.
    expect(ms).toBeLessThan(3200);
    expect(server.asked.filter(({ method }) => method === 'State')).toHaveLength(21);
    expect(new Set(server.asked.map(({ method, id }) => method + id)).size).toBe(22);
  });

  it('and that blocks in Connect is not asked for State', async () => {
    const path = newPath();
    await using server = await serveTtrpc(path, () => null);
    expect(await askOne(about(path))).toMatchObject([
      { call: 'Connect', outcome: 'timeout' },
      { call: 'State', container: 'app', outcome: 'not-asked', detail: 'Connect had no answer: timeout' },
    ]);
    expect(server.asked).toHaveLength(1);
  });

  it.each([12, 5])('by an API that it does not serve (code %d) is asked by the other', async code => {
    const path = newPath();
    const v2 = 'containerd.task.v2.Task';
    await using _ = await serveTtrpc(path, asked =>
      asked.service === v2 ? healthy(asked) : { code, message: `service ${asked.service}` },
    );
    expect(await askOne(about(path, { apis: ['v3', 'v2'] }))).toMatchObject([
      { call: 'Connect', service: 'containerd.task.v3.Task', outcome: 'error', status: { code } },
      { call: 'Connect', service: v2, outcome: 'ok' },
      { call: 'State', service: v2, outcome: 'ok' },
    ]);
  });

  it('about a container that it does not know says so', async () => {
    const path = newPath();
    const status = { code: 5, message: 'container not created: not found' };
    await using _ = await serveTtrpc(path, asked => (asked.method === 'State' ? status : healthy(asked)));
    expect((await askOne(about(path)))[1]).toMatchObject({ outcome: 'error', status, answer: null });
  });

  it('of the first generation is asked by its own service', async () => {
    const path = newPath();
    const pid = Buffer.from('08fe12', 'hex');
    await using _ = await serveTtrpc(path, ({ method }) => (method === 'ShimInfo' ? pid : RUNNING));
    expect(await askOne(about(path, { apis: ['v1'] }))).toMatchObject([
      { call: 'ShimInfo', service: 'containerd.runtime.linux.shim.v1.Shim', answer: { shimPid: 2430 } },
      { call: 'State', outcome: 'ok' },
    ]);
  });
});

describe('a socket', () => {
  it('may be abstract, or too deep for an address', async () => {
    const name = `/containerd-shim/stallcap-${process.pid}.sock`;
    await using _ = await serveTtrpc(`\0${name}`, healthy);
    expect(await askOne(about('', { socket: name }))).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);
    expect(await askOne(about('', { socket: `@${name}` }))).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);

    const deep = join(folder, 'd'.repeat(120));
    mkdirSync(deep);
    const near = newPath();
    const server = await serveTtrpc(near, healthy);
    linkSync(near, join(deep, 's'));
    expect(await askOne(about('/s', { prefix: deep }))).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);
    await server[Symbol.asyncDispose]();
  });

  it('that is not there, that nobody listens at, or that is none, is said to be so', async () => {
    const path = newPath();
    writeFileSync(path, '');
    const server = await serveTtrpc(newPath(), healthy);
    await server[Symbol.asyncDispose]();
    const outcomes = async (question: ShimQuestion) =>
      (await askOne(question)).map(({ outcome, detail }) => `${outcome} ${detail}`);
    expect((await outcomes(about('/no/such.sock')))[0]).toBe('gone ENOENT');
    expect((await outcomes(about(path)))[0]).toMatch(/^gone ECONNREFUSED: nobody listens at unix:/);
    expect(await outcomes(about('', { socket: `/no-such-${process.pid}` }))).toEqual([
      expect.stringMatching(/^gone ECONNREFUSED/),
      'not-asked Connect had no answer: gone',
    ]);
    expect((await outcomes(about(`/${'x'.repeat(200)}`)))[0]).toBe('gone ENOENT');
  });

  it.each([
    ['announces 4 GiB', Buffer.from('ffffffff000000010200', 'hex'), /announces a message of 4294967295 bytes/],
    [
      'speaks HTTP/2, as shims with protocol grpc do',
      Buffer.from('000006040000000000000300000064', 'hex'),
      /sends a message of type 0, and is no ttrpc server/,
    ],
    ['answers garbage', Buffer.from('0000000300000001020012ff61', 'hex'), /none of ttrpc/],
    [
      'cuts a varint',
      Buffer.from('0000000500000001020012 03 08 ff ff'.replaceAll(' ', ''), 'hex'),
      /none of this call/,
    ],
    ['answers with a request', Buffer.from('00000000000000010100', 'hex'), /none of ttrpc/],
    ['hangs up', 'hang up' as const, /closed the connection|EPIPE|ECONNRESET/],
  ])('whose server %s is bounded', async (_, bytes, detail) => {
    const path = newPath();
    await using _server = await serveBytes(path, bytes);
    const [connect, state] = await askOne(about(path));
    expect(connect?.detail).toMatch(detail);
    expect(connect).toMatchObject({ outcome: expect.stringMatching(/error|timeout/), answer: null });
    expect(state).toMatchObject({ outcome: 'not-asked' });
  });

  it('of a stopped process takes the connection, and the deadline counts', async () => {
    const path = newPath();
    const script = `require('node:net').createServer().listen({ path: ${JSON.stringify(path)}, backlog: 2 }, () => console.log('up'))`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await once(child.stdout, 'data');
      child.kill('SIGSTOP');
      await until('it to be stopped', 5000, () => status(child.pid ?? 0)?.state === 'T');
      const { calls, ms } = await ask(...Array.from({ length: 8 }, () => about(path)));
      const connects = calls.map(([first]) => `${first?.outcome} ${first?.detail}`);
      expect(connects.filter(words => words === 'timeout no answer within 2000 ms').length).toBeGreaterThan(1);
      // Beyond its backlog the kernel takes none.
      expect(connects.at(-1)).toBe('error EAGAIN: its queue of connections is full');
      expect(ms).toBeLessThan(3200);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('three hundred shims', () => {
  it('that do not answer are asked in the time of one', async () => {
    const path = newPath();
    await using server = await serveTtrpc(path, () => null);
    const { calls, ms } = await ask(...Array.from({ length: 300 }, () => about(path, { containers: [] })));
    expect(calls.map(([first]) => first?.outcome)).toEqual(Array.from({ length: 300 }, () => 'timeout'));
    expect(ms).toBeLessThan(4000);
    expect(server.asked).toHaveLength(300);
    expect(host.stuckProbes).toEqual([]);
  });
});
