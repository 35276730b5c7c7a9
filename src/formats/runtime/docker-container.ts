import { booleanAt, objectAt, parseObject, pidAt, stringAt, textsAt } from './json.ts';

/** dockerd's `<data-root>/containers/<id>/config.v2.json`: moby container/container.go, container/state.go. */
export interface DockerContainer {
  readonly id: string;
  /** Without the leading slash. */
  readonly name: string | null;
  readonly running: boolean;
  readonly paused: boolean;
  readonly pid: number | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Set by dockershim and cri-dockerd. */
  readonly kubernetes: DockerKubernetes | null;
}

/** dockershim/docker_service.go and naming.go; kubelet types/labels.go. */
export interface DockerKubernetes {
  readonly type: 'sandbox' | 'container';
  /** Of a container: its pause container. */
  readonly sandboxId: string | null;
  readonly containerName: string | null;
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string | null };
}

/** Null when the text is none. */
export function parseDockerContainer(text: string): DockerContainer | null {
  const config = parseObject(text);
  const id = config === null ? null : stringAt(config, 'ID');
  if (config === null || id === null) return null;
  const state = objectAt(config, 'State');
  return {
    id,
    name: stringAt(config, 'Name')?.replace(/^\//, '') ?? null,
    running: booleanAt(state, 'Running') ?? false,
    paused: booleanAt(state, 'Paused') ?? false,
    pid: pidAt(state, 'Pid'),
    startedAt: stringAt(state, 'StartedAt'),
    finishedAt: stringAt(state, 'FinishedAt'),
    kubernetes: kubernetesOf(textsAt(objectAt(config, 'Config'), 'Labels')),
  };
}

function kubernetesOf(labels: ReadonlyMap<string, string>): DockerKubernetes | null {
  const text = (name: string) => labels.get(`io.kubernetes.${name}`) || null;
  const name = text('pod.name');
  const namespace = text('pod.namespace');
  if (name === null || namespace === null) return null;
  return {
    type: text('docker.type') === 'podsandbox' ? 'sandbox' : 'container',
    sandboxId: text('sandbox.id'),
    containerName: text('container.name'),
    pod: { name, namespace, uid: text('pod.uid') },
  };
}
