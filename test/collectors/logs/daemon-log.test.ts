import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Capture } from '../../../src/collectors/collector.ts';
import { logOf } from '../../../src/collectors/logs/daemon-log.ts';
import { LOG_BYTES } from '../../../src/collectors/logs/log-turn.ts';
import { createHost, type LinuxHost } from '../../../src/host/linux.ts';
import { status } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';
import { captureOn } from '../capture-on.ts';

let folder: string;
let host: LinuxHost;
const ended: (() => Promise<void>)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stallcap-log-'));
  host = createHost();
});

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
  await host.close();
  rmSync(folder, { recursive: true });
});

/** A process that does nothing, with its standard error on what a shell writes behind it. */
function daemonInto(redirection: string): number {
  const child = spawn('/bin/sh', ['-c', `exec sleep 600 ${redirection}`], { stdio: 'ignore' });
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()));
  ended.push(() => {
    child.kill('SIGKILL');
    return gone;
  });
  return child.pid as number;
}

const line = (minutesAgo: number, text: string) =>
  `time="${new Date(Date.now() - minutesAgo * 60_000).toISOString()}" level=info msg="${text}"\n`;

async function only<T>(all: AsyncIterable<T>): Promise<T> {
  const brought: T[] = [];
  for await (const one of all) brought.push(one);
  expect(brought).toHaveLength(1);
  return brought[0] as T;
}

/** The shell needs a moment for its redirection. */
async function logIn(capture: Capture, pid: number, places: readonly string[] = []) {
  const daemon = { name: 'containerd', pid, root: null, places };
  return only(logOf(capture, 'logs/containerd.log', daemon));
}

async function untilOpen(pid: number): Promise<void> {
  await until('the daemon to start', 20_000, () => status(pid)?.comm === 'sleep');
  // The first probe of a host takes its time to start, which is not the log's.
  await host.readRisky([{ path: '/proc/version' }], { deadlineMs: 20_000 });
}

describe('the log of a daemon', () => {
  it('is the file that its standard error leads to, from --since on', async () => {
    const path = join(folder, 'daemon.log');
    writeFileSync(path, line(90, 'old') + line(20, 'wanted') + line(0, 'newest'));
    const pid = daemonInto(`2>>'${path}'`);
    await untilOpen(pid);
    const evidence = await logIn(captureOn(host), pid);
    expect(evidence).toMatchObject({ path: 'logs/containerd.log', source: path, outcome: 'ok' });
    expect(evidence.body.toString()).toMatch(
      /^time="[^"]+" level=info msg="wanted"\ntime="[^"]+" level=info msg="newest"\n$/,
    );
  });

  it('is its newest 16 MiB, from a whole line on, when more than that was asked for', async () => {
    const path = join(folder, 'daemon.log');
    const fd = openSync(path, 'w');
    const block = Buffer.from(line(5, 'x'.repeat(1000)).repeat(1024));
    for (let written = 0; written < LOG_BYTES + (4 << 20); written += block.length) appendFileSync(fd, block);
    appendFileSync(fd, line(0, 'newest'));
    closeSync(fd);
    const pid = daemonInto(`2>>'${path}'`);
    await untilOpen(pid);
    const evidence = await logIn(captureOn(host), pid);
    expect(evidence.outcome).toBe('truncated');
    expect(evidence.detail).toMatch(new RegExp(`^last ${LOG_BYTES} of \\d+ bytes$`));
    expect(evidence.body.length).toBeGreaterThan(LOG_BYTES - block.length);
    expect(evidence.body.length).toBeLessThanOrEqual(LOG_BYTES);
    expect(evidence.body.toString('utf8', 0, 6)).toBe('time="');
    expect(evidence.body.subarray(-200).toString()).toContain('newest');
  });

  it('is whole when the large rest of the file is older than was asked for', async () => {
    const path = join(folder, 'daemon.log');
    const fd = openSync(path, 'w');
    const block = Buffer.from(line(90, 'x'.repeat(1000)).repeat(1024));
    for (let written = 0; written < LOG_BYTES + (4 << 20); written += block.length) appendFileSync(fd, block);
    appendFileSync(fd, line(10, 'wanted') + line(0, 'newest'));
    closeSync(fd);
    const pid = daemonInto(`2>>'${path}'`);
    await untilOpen(pid);
    const evidence = await logIn(captureOn(host), pid);
    expect(evidence).toMatchObject({ outcome: 'ok' });
    expect(evidence).not.toHaveProperty('detail');
    expect(evidence.body.toString().split('\n')).toHaveLength(3);
  });

  it('is in the place of its distribution when its standard error leads nowhere', async () => {
    const path = join(folder, 'kept.log');
    writeFileSync(path, line(1, 'kept'));
    const pid = daemonInto('2>/dev/null');
    await untilOpen(pid);
    const evidence = await logIn(captureOn(host), pid, [join(folder, 'missing.log'), path]);
    expect(evidence).toMatchObject({ source: path, outcome: 'ok' });
    expect(evidence.body.toString()).toContain('kept');
  });

  it('is absent, with the reason, when it is nowhere', async () => {
    const pid = daemonInto('2>/dev/null');
    await untilOpen(pid);
    const evidence = await logIn(captureOn(host), pid);
    expect(evidence).toMatchObject({ outcome: 'absent' });
    expect(evidence.detail).toMatch(
      new RegExp(`^descriptor 2 of containerd ${pid} is /dev/null; not in the usual places`),
    );
  });

  it('is taken once when two daemons write the same', async () => {
    const path = join(folder, 'daemon.log');
    writeFileSync(path, line(1, 'shared'));
    const pids = [daemonInto(`2>>'${path}'`), daemonInto(`2>>'${path}'`)] as const;
    for (const pid of pids) await untilOpen(pid);
    const capture = captureOn(host);
    const both = await Promise.all([
      logIn(capture, pids[0]),
      only(logOf(capture, 'logs/docker.log', { name: 'dockerd', pid: pids[1], root: null, places: [] })),
    ]);
    expect(both[0]).toMatchObject({ outcome: 'ok' });
    expect(both[1]).toMatchObject({ outcome: 'absent', detail: 'the same log as logs/containerd.log' });
  });
});
