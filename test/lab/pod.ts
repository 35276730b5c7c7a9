import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUSYBOX } from './busybox-image.ts';
import type { ContainerConfig, ContainerStatus, PodSandboxConfig } from './cri.ts';
import { cwd, pids, status } from './proc.ts';
import type { RunningContainerd } from './running-containerd.ts';
import { until } from './wait.ts';

export interface PodSpec {
  readonly name: string;
  /** Default: default. */
  readonly namespace?: string;
  /** Default: a random UUID. */
  readonly uid?: string;
  /** Its containers see the processes of the node. Default: each has pids of its own. */
  readonly hostPid?: boolean;
  /** Its containers may all that containerd may. */
  readonly privileged?: boolean;
}

export interface ContainerSpec {
  readonly name: string;
  /** Default: sleeps for ever. */
  readonly command?: readonly string[];
  readonly mounts?: readonly {
    readonly hostPath: string;
    readonly containerPath: string;
    readonly readonly?: boolean;
  }[];
  readonly env?: Readonly<Record<string, string>>;
  readonly tty?: boolean;
}

/** A pod with its sandbox, on the host's network (so no CNI is needed). */
export interface Pod {
  /** Sandbox id, 64 hex digits. */
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly shimPid: number;
  /** Process of the pause container. */
  readonly initPid: number;
  /** Bundle directory of the sandbox: the shim's cwd. */
  readonly bundle: string;
  /** Creates a container without starting it. */
  createContainer(spec: ContainerSpec): Promise<PodContainer>;
  /** Creates a container and starts it. */
  addContainer(spec: ContainerSpec): Promise<PodContainer>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export interface PodContainer {
  readonly id: string;
  readonly name: string;
  readonly bundle: string;
  /** In the host's pid namespace; throws before the start. */
  readonly initPid: number;
  start(deadlineMs?: number): Promise<void>;
  status(): Promise<ContainerStatus>;
}

/** The shim server whose bundle directory this is. */
export function shimOf(bundle: string): number | undefined {
  return pids().find(pid => status(pid)?.comm === 'containerd-shim' && cwd(pid) === bundle);
}

export async function runPod(containerd: RunningContainerd, spec: PodSpec): Promise<Pod> {
  const { name, namespace = 'default', uid = randomUUID(), privileged = false } = spec;
  const security = {
    namespace_options: { network: 'NODE', pid: spec.hostPid === true ? 'NODE' : 'CONTAINER', ipc: 'POD' },
    privileged,
  } as const;
  const { cri, folder, state } = containerd;
  const bundleOf = (id: string) => join(state, 'io.containerd.runtime.v2.task', 'k8s.io', id);
  const initPidOf = (id: string) => Number(readFileSync(join(bundleOf(id), 'init.pid'), 'utf8'));
  const sandboxConfig: PodSandboxConfig = {
    metadata: { name, namespace, uid, attempt: 0 },
    log_directory: join(folder.path, 'pods', `${namespace}_${name}_${uid}`),
    labels: {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': namespace,
      'io.kubernetes.pod.uid': uid,
    },
    linux: {
      cgroup_parent: `/${folder.name}/kubepods/besteffort/pod${uid}`,
      security_context: security,
    },
  };
  const { pod_sandbox_id: id } = await cri.call('RunPodSandbox', { config: sandboxConfig });
  const shimPid = await until('the shim of the sandbox', 5000, () => shimOf(bundleOf(id)));

  const createContainer = async (container: ContainerSpec): Promise<PodContainer> => {
    mkdirSync(join(sandboxConfig.log_directory ?? '', container.name), { recursive: true });
    const { container_id } = await cri.call('CreateContainer', {
      pod_sandbox_id: id,
      config: containerConfig(container, sandboxConfig),
      sandbox_config: sandboxConfig,
    });
    return {
      id: container_id,
      name: container.name,
      bundle: bundleOf(container_id),
      get initPid() {
        return initPidOf(container_id);
      },
      start: async deadlineMs => {
        await cri.call('StartContainer', { container_id }, deadlineMs);
      },
      status: async () => (await cri.call('ContainerStatus', { id: container_id })).status,
    };
  };

  return {
    id,
    name,
    namespace,
    uid,
    shimPid,
    initPid: initPidOf(id),
    bundle: bundleOf(id),
    createContainer,
    addContainer: async container => {
      const created = await createContainer(container);
      await created.start();
      return created;
    },
    stop: async () => void (await cri.call('StopPodSandbox', { pod_sandbox_id: id })),
    remove: async () => void (await cri.call('RemovePodSandbox', { pod_sandbox_id: id })),
  };
}

function containerConfig(spec: ContainerSpec, sandbox: PodSandboxConfig): ContainerConfig {
  return {
    metadata: { name: spec.name, attempt: 0 },
    image: { image: BUSYBOX },
    command: spec.command ?? ['sleep', '2147483647'],
    envs: Object.entries(spec.env ?? {}).map(([key, value]) => ({ key, value })),
    mounts: (spec.mounts ?? []).map(mount => ({
      host_path: mount.hostPath,
      container_path: mount.containerPath,
      readonly: mount.readonly ?? false,
    })),
    labels: { ...sandbox.labels, 'io.kubernetes.container.name': spec.name },
    log_path: `${spec.name}/0.log`,
    tty: spec.tty ?? false,
    linux: { security_context: sandbox.linux?.security_context ?? {} },
  };
}
