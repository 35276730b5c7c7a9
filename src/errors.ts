/** Exit codes of every command; scripts and runbooks branch on them. */
export const EXIT = {
  complete: 0,
  fault: 1,
  usage: 2,
  incomplete: 3,
  noTarget: 4,
  notPermitted: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface ErrorDetails {
  /** Stable, kebab-case, for scripts: 'ambiguous-target'. */
  readonly code: string;
  readonly exit: ExitCode;
  /** What the person at the keyboard can do now, one imperative sentence each. */
  readonly next?: readonly string[];
  /** A table to show below the message (candidates, near matches), already formatted. */
  readonly table?: string;
  readonly cause?: unknown;
}

/** A failure that a user can act on: says what is wrong in one sentence, and what to do next. */
export class StallcapError extends Error {
  override readonly name = 'StallcapError';
  readonly code: string;
  readonly exit: ExitCode;
  readonly next: readonly string[];
  readonly table: string | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.exit = details.exit;
    this.next = details.next ?? [];
    this.table = details.table;
  }
}
