import type { CriAnswer, CriQuestion } from '../../formats/cri/calls.ts';
import type { Outcome } from './outcome.ts';

/** One call to a runtime's CRI service, and what became of it. */
export interface CriCall {
  readonly question: CriQuestion;
  /** `runtime.v1.RuntimeService` */
  readonly service: string;
  /** `gone`: nobody listens at that socket. `error`: answered with a status, or with what is no answer. */
  readonly outcome: 'ok' | 'error' | 'timeout' | 'gone' | 'denied';
  readonly offsetMs: number;
  readonly latencyMs: number;
  readonly answer: CriAnswer | null;
  /** grpc's, where that was the answer. */
  readonly status?: { readonly code: number; readonly message: string };
  readonly detail?: string;
}

/** One GET, and what became of it. */
export interface HttpCall {
  readonly path: string;
  /** `error`: also a status that is none of 2xx. `gone`: nobody listens at that socket. */
  readonly outcome: Outcome;
  readonly status: number | null;
  readonly offsetMs: number;
  readonly latencyMs: number;
  readonly body: Buffer;
  readonly detail?: string;
}
