import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createHost } from '../../../src/host/linux.ts';
import { alive, status, withDescendants } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';

const descriptors = () => readdirSync('/proc/self/fd').length;
const childrenOfThis = () => [...withDescendants([process.pid])].filter(pid => pid !== process.pid && alive(pid));

describe('the probes of a run', () => {
  it('leave nothing behind after two hundred requests', async () => {
    const before = { descriptors: descriptors(), children: childrenOfThis().length };
    const host = createHost();
    const deadline = { deadlineMs: 20_000 };
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          if (index === 0 && round % 5 === 0) return host.run({ argv: ['sh', '-c', 'sleep 0.05'], timeoutMs: 20_000 });
          if (index === 1) return host.lookRisky([process.pid], deadline);
          return host.readRisky([{ path: '/proc/version' }, { path: '/etc/hostname' }], deadline);
        }),
      );
    }
    expect(host.cost().children).toBeLessThanOrEqual(4);
    await host.close();
    await until('all probes to be gone', 10_000, () => childrenOfThis().length <= before.children);
    await until('their pipes to be closed', 10_000, () => descriptors() <= before.descriptors);
  });

  it('are started when they are needed, and ahead of that when asked to', async () => {
    const host = createHost();
    expect(host.cost().children).toBe(0);
    host.warmUp();
    host.warmUp();
    expect(host.cost().children).toBe(1);
    expect((await host.readRisky([{ path: '/proc/version' }], { deadlineMs: 20_000 }))[0]?.outcome).toBe('ok');
    expect(host.cost().children).toBe(1);
    await host.close();
  });

  it('are replaced when one is killed, and the request is answered all the same', async () => {
    const before = childrenOfThis();
    const host = createHost();
    host.warmUp();
    const [probe = 0] = childrenOfThis().filter(pid => !before.includes(pid));
    await until('it to have started', 20_000, () => (status(probe)?.threads ?? 0) > 1);
    const running = host.readRisky(
      Array.from({ length: 3000 }, () => ({ path: '/proc/self/status' })),
      { deadlineMs: 30_000 },
    );
    process.kill(probe, 'SIGKILL');
    const results = await running;
    expect(results.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    expect(host.cost().children).toBe(2);
    await host.close();
  });

  it('are the first that the kernel takes when memory is short', async () => {
    const host = createHost();
    const [score] = await host.readRisky([{ path: '/proc/self/oom_score_adj' }], { deadlineMs: 20_000 });
    expect(score?.body.toString()).toBe('1000\n');
    await host.close();
  });

  it('cannot be had at all: every request is answered, and says so', async () => {
    const host = createHost({ self: ['/no/such/program'] });
    const deadline = { deadlineMs: 5000 };
    const [file] = await host.readRisky([{ path: '/proc/version' }], deadline);
    expect(file).toMatchObject({
      outcome: 'timeout',
      detail: 'not reached: no probe can be started (spawn /no/such/program ENOENT)',
    });
    expect(await host.run({ argv: ['true'], timeoutMs: 2000 })).toMatchObject({ outcome: 'timeout' });
    expect(await host.sweep({ tree: [] }, deadline)).toMatchObject({ outcome: 'timeout', threadCount: 0 });
    expect(await host.drain(1).opened).toMatchObject({ outcome: 'timeout' });
    await host.close();
  });

  it('answer no request after the end, and none that was called off before', async () => {
    const host = createHost();
    const aborted = AbortSignal.abort();
    expect((await host.readRisky([{ path: '/proc/version' }], { deadlineMs: 1000, signal: aborted }))[0]).toMatchObject(
      {
        outcome: 'timeout',
        detail: 'not reached: aborted',
      },
    );
    await host.close();
    expect((await host.readRisky([{ path: '/proc/version' }], { deadlineMs: 1000 }))[0]?.detail).toContain(
      'the run is over',
    );
    expect(host.cost().children).toBe(0);
  });
});

describe('the kernel log', () => {
  it('comes as records, the newest when there is room for some', async ({ skip }) => {
    const host = createHost();
    try {
      const log = await host.kernelLog(1 << 20, { deadlineMs: 20_000 });
      skip(log.outcome === 'denied' || log.outcome === 'gone', `/dev/kmsg: ${log.detail}`);
      expect(['ok', 'truncated']).toContain(log.outcome);
      const lines = log.body.toString().trimEnd().split('\n');
      expect(lines.filter(line => !/^\d+,\d+,\d+,|^ /.test(line))).toEqual([]);
      const last = await host.kernelLog(500, { deadlineMs: 20_000 });
      expect(last.body.length).toBeLessThanOrEqual(500);
      expect(last).toMatchObject({ outcome: 'truncated', detail: expect.stringContaining('newest 500 bytes kept') });
    } finally {
      await host.close();
    }
  });
});
