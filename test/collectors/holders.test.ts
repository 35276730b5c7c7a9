import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holders } from '../../src/collectors/holders.ts';
import { createHost } from '../../src/host/linux.ts';
import { until } from '../lab/wait.ts';
import { broughtBy, captureOn, POD, SHIM, textOf } from './capture-on.ts';

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
const commOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();

describe('who holds what a pod waits for', () => {
  it('is the writer of a pipe that the shim reads, and who stands in the rootfs; looked for where a container has ended', async () => {
    const bundle = mkdtempSync(join(tmpdir(), 'stallcap-holders-'));
    mkdirSync(join(bundle, 'rootfs'));
    // A pipe between two: the second is taken for a shim.
    const pair = spawn('sh', ['-c', 'sleep 600 | tail -f /dev/stdin'], { stdio: 'ignore', detached: true });
    const inside = spawn('sleep', ['600'], { cwd: join(bundle, 'rootfs'), stdio: 'ignore' });
    const daemon = spawn('sh', ['-c', `exec 7>'${bundle}/log' && exec sleep 600`], { stdio: 'ignore' });
    const ended = spawn('true', { stdio: 'ignore' });
    await once(ended, 'exit');
    const host = createHost();
    try {
      const both = await until('a pipe between two', 5000, () => {
        const children = childrenOf(pair.pid ?? 0);
        return (
          children.some(pid => commOf(pid) === 'sleep') && children.some(pid => commOf(pid) === 'tail') && children
        );
      });
      const [writer, reader] = ['sleep', 'tail'].map(comm => both.find(pid => commOf(pid) === comm) ?? 0);
      const podOf = (initPid: number) => ({
        ...POD,
        shims: [{ ...SHIM, pid: reader ?? 0 }],
        containers: POD.containers.map(container => ({ ...container, bundle, initPid })),
      });
      const brought = await broughtBy(holders, captureOn(host, { sandbox: podOf(ended.pid ?? 0) }));
      const text = textOf(brought, 'node/holders.txt');
      expect(text).toMatch(new RegExp(`^${inside.pid} sleep cwd ${bundle}/rootfs$`, 'm'));
      expect(text).toMatch(new RegExp(`^${writer} sleep fd 1 w pipe:\\[\\d+\\]$`, 'm'));
      // Its log is read by containerd, which is no reason for anything.
      expect(text).not.toContain(' fd 7 ');
      // Not who reads it, the shim itself.
      expect(text).not.toMatch(new RegExp(`^${reader} `, 'm'));
      const running = captureOn(host, { sandbox: podOf(inside.pid ?? 0) });
      expect(await broughtBy(holders, running)).toEqual(new Map());
    } finally {
      inside.kill();
      daemon.kill();
      process.kill(-(pair.pid ?? 0), 'SIGKILL');
      await host.close();
      rmSync(bundle, { recursive: true });
    }
  });
});
