import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startContainerd } from './containerd.ts';
import { leftovers } from './leftovers.ts';
import { newerContainerd } from './newer-containerd.ts';
import { alive, cwd, status } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { until } from './wait.ts';

describe.skipIf(labUnavailable())('a containerd of the lab', () => {
  it('runs pods through CRI, with one shim for all containers of a pod, and ends without a trace', async () => {
    const containerd = await startContainerd();
    try {
      const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
      const app = await pod.addContainer({ name: 'app' });
      const sidecar = await pod.addContainer({ name: 'sidecar', tty: true });
      expect(cwd(pod.shimPid)).toBe(pod.bundle);
      expect([pod.initPid, app.initPid, sidecar.initPid].every(alive)).toBe(true);
      expect(await app.status()).toMatchObject({ state: 'CONTAINER_RUNNING', metadata: { name: 'app' } });
      const { containers } = await containerd.cri.call('ListContainers', {});
      expect(containers.map(({ id }) => id).sort()).toEqual([app.id, sidecar.id].sort());
      await pod.stop();
      await pod.remove();
      await until('the shim to end with its pod', 5000, () => !alive(pod.shimPid));
    } finally {
      await containerd[Symbol.asyncDispose]();
    }
    expect(leftovers(containerd.folder)).toEqual([]);
  });

  it.each(['v1', 'v2'] as const)('runs containers without a pod, below a %s shim', async shim => {
    const containerd = await startContainerd();
    try {
      const container = await containerd.runContainer({ id: 'alone', shim });
      expect(cwd(container.shimPid)).toBe(container.bundle);
      expect(status(container.initPid)).toMatchObject({ comm: 'sleep', ppid: container.shimPid });
      const exe = readlinkSync(`/proc/${container.shimPid}/exe`);
      expect(basename(exe)).toBe(shim === 'v1' ? 'containerd-shim' : 'containerd-shim-runc-v2');
    } finally {
      await containerd[Symbol.asyncDispose]();
    }
    expect(leftovers(containerd.folder)).toEqual([]);
  });

  it.for([
    ['trixie', /^1\.7\./],
    ['forky', /^2\./],
  ] as const)('may be of Debian %s', async ([release, version], { skip }) => {
    const binaries = await newerContainerd(release);
    if ('reason' in binaries) return skip(binaries.reason);
    const containerd = await startContainerd({ bin: binaries.bin });
    try {
      expect(containerd.version).toMatch(version);
      const pod = await containerd.runPod({ name: 'web-0' });
      await pod.addContainer({ name: 'app' });
      expect(readlinkSync(`/proc/${pod.shimPid}/exe`)).toBe(`${binaries.bin}/containerd-shim-runc-v2`);
    } finally {
      await containerd[Symbol.asyncDispose]();
    }
    expect(leftovers(containerd.folder)).toEqual([]);
  });
});
