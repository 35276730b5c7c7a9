import { decodeMessage, encodeMessage, type Message, repeated } from '../protobuf/message.ts';

/**
 * The calls of the Container Runtime Interface that only read, and of their answers what tells the state of a container.
 * Field numbers of k8s.io/cri-api/pkg/apis/runtime/v1/api.proto; v1alpha2, which containerd served alone before 1.6, has the
 * same. `verbose` is never asked for: with it containerd asks the shim for State, and answers with all environment variables.
 */
const SANDBOX_METADATA = {
  name: [1, 'text'],
  uid: [2, 'text'],
  namespace: [3, 'text'],
  attempt: [4, 'number'],
} as const;
const CONTAINER_METADATA = { name: [1, 'text'], attempt: [2, 'number'] } as const;

const SANDBOX = {
  id: [1, 'text'],
  metadata: [2, SANDBOX_METADATA],
  state: [3, 'number'],
  createdAt: [4, 'digits'],
} as const;
const CONTAINER = {
  id: [1, 'text'],
  sandboxId: [2, 'text'],
  metadata: [3, CONTAINER_METADATA],
  state: [6, 'number'],
  createdAt: [7, 'digits'],
} as const;
const CONTAINER_STATUS = {
  id: [1, 'text'],
  metadata: [2, CONTAINER_METADATA],
  state: [3, 'number'],
  createdAt: [4, 'digits'],
  startedAt: [5, 'digits'],
  finishedAt: [6, 'digits'],
  exitCode: [7, 'number'],
  reason: [10, 'text'],
  message: [11, 'text'],
} as const;

const VERSION = { runtimeName: [2, 'text'], runtimeVersion: [3, 'text'], runtimeApiVersion: [4, 'text'] } as const;

/** Full names, in the order in which they are tried; containerd has v1alpha2 up to 1.7. */
export const CRI_SERVICES = ['runtime.v1.RuntimeService', 'runtime.v1alpha2.RuntimeService'] as const;

/** One call: its method, and the id that it is about where it takes one. Without an id, lists are of the whole node. */
export type CriQuestion =
  | { readonly method: 'Version' }
  | { readonly method: 'ListPodSandbox' | 'ListContainers'; readonly sandboxId: string | null }
  | { readonly method: 'PodSandboxStatus' | 'ContainerStatus'; readonly id: string };

export type CriMethod = CriQuestion['method'];

export type CriAnswer =
  | Message<typeof VERSION>
  | { readonly sandboxes: readonly CriSandbox[] }
  | { readonly containers: readonly CriContainer[] }
  | { readonly status: CriSandbox | CriContainerStatus | null };

/** Times are nanoseconds since 1970, decimal. */
export type CriSandbox = Named<Message<typeof SANDBOX>, SandboxState>;
export type CriContainer = Named<Message<typeof CONTAINER>, ContainerState>;
export type CriContainerStatus = Named<Message<typeof CONTAINER_STATUS>, ContainerState>;

type Named<Answer, State> = Omit<Answer, 'state'> & { readonly state: State };

const SANDBOX_STATES = ['SANDBOX_READY', 'SANDBOX_NOTREADY'] as const;
const CONTAINER_STATES = ['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN'] as const;
type SandboxState = (typeof SANDBOX_STATES)[number] | `state ${number}`;
type ContainerState = (typeof CONTAINER_STATES)[number] | `state ${number}`;

/** PodSandboxFilter 1 id; ContainerFilter 3 pod_sandbox_id. Requests about one id have it in field 1. */
export function encodeQuestion(question: CriQuestion): Buffer {
  switch (question.method) {
    case 'Version':
      return Buffer.alloc(0);
    case 'ListPodSandbox':
    case 'ListContainers': {
      const { method, sandboxId } = question;
      if (sandboxId === null) return Buffer.alloc(0);
      const number = method === 'ListPodSandbox' ? 1 : 3;
      return encodeMessage({ filter: [1, { sandboxId: [number, 'text'] }] }, { filter: { sandboxId } });
    }
    case 'PodSandboxStatus':
    case 'ContainerStatus':
      return encodeMessage({ id: [1, 'text'] }, { id: question.id });
  }
}

/** Null for bytes that are no answer to that. */
export function decodeAnswer(method: CriMethod, bytes: Buffer): CriAnswer | null {
  switch (method) {
    case 'Version':
      return decodeMessage(VERSION, bytes);
    case 'ListPodSandbox': {
      const answer = decodeMessage({ items: [1, repeated(SANDBOX)] }, bytes);
      return answer && { sandboxes: answer.items.map(sandboxOf) };
    }
    case 'ListContainers': {
      const answer = decodeMessage({ items: [1, repeated(CONTAINER)] }, bytes);
      return answer && { containers: answer.items.map(containerOf) };
    }
    case 'PodSandboxStatus': {
      const answer = decodeMessage({ status: [1, SANDBOX] }, bytes);
      return answer && { status: answer.status && sandboxOf(answer.status) };
    }
    case 'ContainerStatus': {
      const answer = decodeMessage({ status: [1, CONTAINER_STATUS] }, bytes);
      return answer && { status: answer.status && containerOf(answer.status) };
    }
  }
}

function sandboxOf(sandbox: Message<typeof SANDBOX>): CriSandbox {
  return { ...sandbox, state: SANDBOX_STATES[sandbox.state] ?? `state ${sandbox.state}` };
}

function containerOf<Answer extends { readonly state: number }>(answer: Answer): Named<Answer, ContainerState> {
  return { ...answer, state: CONTAINER_STATES[answer.state] ?? `state ${answer.state}` };
}
