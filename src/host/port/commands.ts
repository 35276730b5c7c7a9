import type { Outcome } from './outcome.ts';

/** A command of the node: never the binary of a stalled disk in the main process. */
export interface CommandRequest {
  /** argv[0] is searched in PATH inside the probe, since PATH itself may lie on the stalled disk. */
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  /** Cap of stdout and of stderr each. Default 4 MiB. */
  readonly maxBytes?: number;
  readonly keep?: 'head' | 'tail';
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface CommandResult {
  readonly argv: readonly string[];
  /** `absent`: no such program in PATH. `timeout`: it hung, or its exec did. `error`: exit code not 0. */
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly detail?: string;
  readonly offsetMs: number;
  readonly durationMs: number;
}
