import { join } from 'node:path';
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

export interface NamespaceOptions {
  readonly network?: 'POD' | 'NODE';
  readonly pid?: 'POD' | 'CONTAINER' | 'NODE';
  readonly ipc?: 'POD' | 'NODE';
}

export interface SecurityContext {
  readonly namespace_options?: NamespaceOptions;
  readonly privileged?: boolean;
}

export interface PodSandboxConfig {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly namespace: string;
    readonly attempt?: number;
  };
  readonly hostname?: string;
  readonly log_directory?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly linux?: {
    readonly cgroup_parent?: string;
    readonly security_context?: SecurityContext;
  };
}

export interface ContainerConfig {
  readonly metadata: { readonly name: string; readonly attempt?: number };
  readonly image: { readonly image: string };
  readonly command?: readonly string[];
  readonly envs?: readonly { readonly key: string; readonly value: string }[];
  readonly mounts?: readonly {
    readonly container_path: string;
    readonly host_path: string;
    readonly readonly?: boolean;
  }[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly log_path?: string;
  readonly tty?: boolean;
  readonly linux?: { readonly security_context?: SecurityContext };
}

export type ContainerState = 'CONTAINER_CREATED' | 'CONTAINER_RUNNING' | 'CONTAINER_EXITED' | 'CONTAINER_UNKNOWN';

/** Times are nanoseconds since the epoch, as decimal strings. */
export interface ContainerStatus {
  readonly id: string;
  readonly metadata: { readonly name: string; readonly attempt: number };
  readonly state: ContainerState;
  readonly created_at: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly exit_code: number;
  readonly reason: string;
  readonly message: string;
}

/** Request and response of every call that the lab makes; see cri.proto. */
interface Calls {
  Version: [{ version?: string }, { version: string; runtime_name: string; runtime_version: string }];
  RunPodSandbox: [{ config: PodSandboxConfig }, { pod_sandbox_id: string }];
  StopPodSandbox: [{ pod_sandbox_id: string }, unknown];
  RemovePodSandbox: [{ pod_sandbox_id: string }, unknown];
  PodSandboxStatus: [
    { id: string; verbose?: boolean },
    { status: { id: string; state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY' }; info: Record<string, string> },
  ];
  CreateContainer: [
    { pod_sandbox_id: string; config: ContainerConfig; sandbox_config: PodSandboxConfig },
    { container_id: string },
  ];
  StartContainer: [{ container_id: string }, unknown];
  StopContainer: [{ container_id: string; timeout: number }, unknown];
  RemoveContainer: [{ container_id: string }, unknown];
  ListContainers: [
    Record<string, never>,
    { containers: readonly { id: string; pod_sandbox_id: string; state: ContainerState }[] },
  ];
  ContainerStatus: [{ id: string; verbose?: boolean }, { status: ContainerStatus; info: Record<string, string> }];
  /** Null for an image that CRI does not know. */
  ImageStatus: [{ image: { image: string } }, { image: { id: string } | null }];
}

/** What kubelet would say to the runtime. */
export interface Cri {
  /** @throws ServiceError (`code`, `details`) of the runtime; code 4 when `deadlineMs` pass without an answer */
  call<Name extends keyof Calls>(name: Name, request: Calls[Name][0], deadlineMs?: number): Promise<Calls[Name][1]>;
  close(): void;
}

type Method = (
  request: unknown,
  options: { deadline: number },
  done: (error: Error | null, response: unknown) => void,
) => void;

/** A client of the runtime service at a unix socket. */
export function connectCri(socket: string): Cri {
  const definition = loadSync(join(import.meta.dirname, 'cri.proto'), {
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
  });
  const { runtime } = loadPackageDefinition(definition) as unknown as {
    runtime: { v1: Record<'RuntimeService' | 'ImageService', ServiceClientConstructor> };
  };
  const connect = (Service: ServiceClientConstructor) =>
    new Service(`unix://${socket}`, credentials.createInsecure(), {
      // The socket appears while we wait for it: ask again soon, not after the second that is the default.
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 200,
    });
  const containers = connect(runtime.v1.RuntimeService);
  const images = connect(runtime.v1.ImageService);
  return {
    call: (name, request, deadlineMs = 30_000) =>
      new Promise((resolve, reject) => {
        const client = name === 'ImageStatus' ? images : containers;
        const method = client[name] as unknown as Method;
        method.call(client, request, { deadline: Date.now() + deadlineMs }, (error, response) =>
          error === null ? resolve(response as never) : reject(error),
        );
      }),
    close: () => {
      containers.close();
      images.close();
    },
  };
}
