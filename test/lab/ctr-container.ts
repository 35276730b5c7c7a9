import { join } from 'node:path';
import { BUSYBOX } from './busybox-image.ts';
import { shimOf } from './pod.ts';
import type { RunningContainerd } from './running-containerd.ts';
import { until } from './wait.ts';

export interface CtrContainerSpec {
  readonly id: string;
  /** containerd's namespace. Default: default. */
  readonly namespace?: string;
  readonly command?: readonly string[];
  /** `v1`: the old shim, which containerd has until 1.7. `kata`: containerd-shim-kata-v2, where one is in PATH. Default: v2. */
  readonly shim?: 'v1' | 'v2' | 'kata';
}

/** A container without CRI and without a pod, as `ctr run` makes it: its shim is its own. */
export interface CtrContainer {
  readonly id: string;
  readonly namespace: string;
  readonly initPid: number;
  readonly shimPid: number;
  readonly bundle: string;
}

const RUNTIMES = {
  v1: { name: 'io.containerd.runtime.v1.linux', bundles: 'io.containerd.runtime.v1.linux' },
  v2: { name: 'io.containerd.runc.v2', bundles: 'io.containerd.runtime.v2.task' },
  kata: { name: 'io.containerd.kata.v2', bundles: 'io.containerd.runtime.v2.task' },
};

export async function runContainer(containerd: RunningContainerd, spec: CtrContainerSpec): Promise<CtrContainer> {
  const { id, namespace = 'default', command = ['sleep', '2147483647'], shim = 'v2' } = spec;
  const { folder } = containerd;
  const runtime = RUNTIMES[shim];
  const ctr = (...args: string[]) => containerd.ctr(['-n', namespace, ...args]);
  await ctr('image', 'import', join(folder.path, 'busybox.tar'));
  const places = ['--cgroup', `/${folder.name}/${id}`, '--fifo-dir', join(folder.path, 'fifo')];
  await ctr('run', '-d', '--runtime', runtime.name, ...places, BUSYBOX, id, ...command);
  const bundle = join(containerd.state, runtime.bundles, namespace, id);
  const tasks = await ctr('task', 'ls');
  return {
    id,
    namespace,
    initPid: Number(new RegExp(`^${id} +(\\d+)`, 'm').exec(tasks)?.[1]),
    shimPid: await until('the shim of the container', 5000, () => shimOf(bundle)),
    bundle,
  };
}
