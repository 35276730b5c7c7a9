import { stateText } from '../formats/runtime/fixture.ts';
import type { MemoryHost } from './memory-host.ts';

/** A sandbox or container id out of a short name: 64 hex digits. */
export function idOf(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64);
}

export interface PodOptions {
  readonly name: string;
  readonly podNamespace?: string;
  readonly uid?: string;
  readonly shimPid: number;
  readonly containers?: readonly string[];
  readonly state?: string;
  readonly root?: string;
  readonly address?: string;
  readonly namespace?: string;
  /** What of the layout the version has. */
  readonly version?: '1.4' | '1.6' | '2.3';
  readonly mountNamespace?: string;
  /** Where the files are put; `/proc/<pid>/root` for a pod in another mount namespace. */
  readonly prefix?: string;
  /** Of the shim; default 1. */
  readonly parent?: number;
}

const TASKS = 'io.containerd.runtime.v2.task';

/** Puts a CRI pod on the host: shim, inits, bundles, runc's state, as the captured ones have them. */
export function addPod(host: MemoryHost, options: PodOptions): { readonly sandboxId: string; readonly dir: string } {
  const {
    name,
    podNamespace = 'shop',
    uid = `uid-${name}`,
    shimPid,
    containers = ['app'],
    state = '/run/containerd',
    root = '/var/lib/containerd',
    address = '/run/containerd/containerd.sock',
    namespace = 'k8s.io',
    version = '1.6',
    prefix = '',
  } = options;
  const sandboxId = idOf(`${name}@${podNamespace}`);
  const dir = `${state}/${TASKS}/${namespace}`;
  const mountNamespace = options.mountNamespace === undefined ? {} : { mountNamespace: options.mountNamespace };
  host.add({
    pid: shimPid,
    comm: 'containerd-shim',
    ppid: options.parent ?? 1,
    cwd: `${dir}/${sandboxId}`,
    stderr: `${dir}/${sandboxId}/log`,
    argv: ['/usr/bin/containerd-shim-runc-v2', '-namespace', namespace, '-id', sandboxId, '-address', address],
    ...mountNamespace,
  });
  const socket = `unix:///run/containerd/s/${sandboxId}`;
  const pod: Record<string, string> =
    version === '1.4'
      ? {}
      : {
          'io.kubernetes.cri.sandbox-name': name,
          'io.kubernetes.cri.sandbox-namespace': podNamespace,
          'io.kubernetes.cri.sandbox-uid': uid,
        };
  const put = (id: string, pid: number, annotations: Record<string, string>) => {
    const at = `${prefix}${dir}/${id}`;
    const config = JSON.parse(stateText('1.6.20/bundle-container/config.json'));
    host.put(`${at}/config.json`, JSON.stringify({ ...config, annotations: { ...pod, ...annotations } }));
    host.put(`${at}/work`, { link: `${root}/${TASKS}/${namespace}/${id}` });
    host.put(`${at}/init.pid`, String(pid));
    host.put(`${at}/options.json`, '{}');
    if (version === '2.3')
      host.put(`${at}/bootstrap.json`, JSON.stringify({ version: 3, address: socket, protocol: 'ttrpc' }));
    else host.put(`${at}/address`, socket);
    const startTicks = String(pid * 10);
    host.put(
      `${prefix}/run/containerd/runc/${namespace}/${id}/state.json`,
      `{"id":"${id}","init_process_pid":${pid},"init_process_start":${startTicks},"created":"2026-11-29T11:42:33Z","config":{}}`,
    );
    host.add({
      pid,
      comm: 'sleep',
      ppid: shimPid,
      threads: 1,
      startTicks,
      cgroup: `0::/kubepods/pod${uid}/${id}\n`,
      ...mountNamespace,
    });
  };
  put(sandboxId, shimPid + 1, {
    'io.kubernetes.cri.container-type': 'sandbox',
    'io.kubernetes.cri.sandbox-id': sandboxId,
    'io.kubernetes.cri.sandbox-log-directory': `/var/log/pods/${podNamespace}_${name}_${uid}`,
  });
  for (const [index, container] of containers.entries()) {
    put(idOf(`${container}/${name}@${podNamespace}`), shimPid + 2 + index, {
      'io.kubernetes.cri.container-type': 'container',
      'io.kubernetes.cri.container-name': container,
      'io.kubernetes.cri.sandbox-id': sandboxId,
    });
  }
  return { sandboxId, dir: `${dir}/${sandboxId}` };
}

const DOCKER = { state: '/var/run/docker/containerd/daemon', root: '/var/lib/docker/containerd/daemon' };

/** Puts one of the captured docker containers on the host, with its shim. */
export function addDocker(host: MemoryHost, kind: 'sandbox' | 'container' | 'plain', shimPid: number): string {
  const text = (name: string) => stateText(`moby/${kind}/${name}`);
  const id: string = JSON.parse(text('config.v2.json')).ID;
  const dir = `${DOCKER.state}/${TASKS}/moby/${id}`;
  host.add({
    pid: shimPid,
    comm: 'containerd-shim',
    cwd: dir,
    stderr: `${dir}/log`,
    argv: text('shim-cmdline').split('\0').slice(0, -1),
  });
  for (const name of ['config.json', 'options.json', 'address', 'init.pid']) host.put(`${dir}/${name}`, text(name));
  host.put(`${dir}/work`, { link: text('work').trim() });
  host.put(`/var/lib/docker/containers/${id}/config.v2.json`, text('config.v2.json'));
  host.put(`/var/run/docker/runtime-runc/moby/${id}/state.json`, text('runc-state.json'));
  return id;
}
