/** What one source believes of one container at one moment. The sources are the layers that a container is known to. */

/** In the order of a table: what is, then who writes it down, then who is asked. */
export const SOURCES = [
  '/proc',
  'runc',
  'shim',
  'CRI status file',
  'CRI',
  'crictl',
  'config.v2.json',
  'docker',
] as const;
export type Source = (typeof SOURCES)[number];

/**
 * - `absent`: the source knows of no such container (any more)
 * - `unknown`: it did not answer, or what it says is no state
 */
export type Belief = 'created' | 'running' | 'paused' | 'exited' | 'absent' | 'unknown';

export interface View {
  readonly source: Source;
  readonly says: Belief;
  /** The source's own word: `CONTAINER_RUNNING`, `STOPPED`, `gone`; or `no answer`. */
  readonly word: string;
  /** When it was read or asked, ISO 8601 with ms, UTC. */
  readonly at: string;
  /** How long it took to answer; null for what is read. */
  readonly tookMs: number | null;
  /** Process that it speaks of; null when it names none. */
  readonly pid: number | null;
  /** Since when it has said so at least: when a file was written, when a task ended. ISO 8601, or null. */
  readonly since: string | null;
  /** Why it did not answer, or what else belongs to the answer. */
  readonly detail?: string;
}

/** One container with all that was said of it, in the order in which it was said. */
export interface ContainerViews {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
  readonly name: string | null;
  readonly views: readonly View[];
}

const BELIEFS: ReadonlyMap<string, Belief> = new Map<string, Belief>([
  // containerd's tasks: api/types/task/task.proto
  ['CREATED', 'created'],
  ['RUNNING', 'running'],
  ['STOPPED', 'exited'],
  ['PAUSED', 'paused'],
  ['PAUSING', 'paused'],
  // CRI's containers and sandboxes: k8s.io/cri-api/pkg/apis/runtime/v1/api.proto
  ['CONTAINER_CREATED', 'created'],
  ['CONTAINER_RUNNING', 'running'],
  ['CONTAINER_EXITED', 'exited'],
  ['SANDBOX_READY', 'running'],
  ['SANDBOX_NOTREADY', 'exited'],
  // docker: moby container/state.go StateString()
  ['created', 'created'],
  ['running', 'running'],
  ['restarting', 'running'],
  ['paused', 'paused'],
  ['exited', 'exited'],
  ['dead', 'exited'],
]);

/** What a state means, by whose word it ever is; `unknown` for a word that is no state. */
export function beliefOf(word: string): Belief {
  return BELIEFS.get(word) ?? 'unknown';
}
