import type { Citation } from '../../diagnosis/citation.ts';

/** The layers, in the order of a page: what the user sees first, what the kernel does last. */
export const LAYERS = [
  'kubelet',
  'container',
  'status file',
  'containerd',
  'docker',
  'thread',
  'kernel',
  'capture',
] as const;
export type Layer = (typeof LAYERS)[number];

/** Something that happened at a moment. */
export interface TimelineEvent {
  /** ISO 8601, UTC, ms. */
  readonly at: string;
  readonly layer: Layer;
  /** `app`, a thread, or null for the layer as a whole. */
  readonly of: string | null;
  readonly what: string;
  /** How many lines of a log say the same up to `until`; 1 for a single one. */
  readonly count: number;
  readonly until: string | null;
  readonly severity: 'plain' | 'bad';
  readonly cite: Citation | null;
}

/** Something that lasted. */
export interface TimelineSpan {
  readonly from: string;
  readonly to: string;
  readonly layer: Layer;
  readonly of: string | null;
  readonly what: string;
  readonly kind: 'waiting' | 'running' | 'ended' | 'stuck' | 'capture';
  readonly cite: Citation | null;
}
