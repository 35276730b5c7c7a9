import type { KubernetesEvent } from '../../formats/kubernetes/events.ts';
import type { Citation } from '../citation.ts';

/** An event of the API server about the target, out of a file that somebody attached. */
export interface AttachedEvent extends Omit<KubernetesEvent, 'line' | 'text'> {
  readonly cite: Citation;
}
