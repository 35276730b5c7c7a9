import type { ExitCode } from '../errors.ts';

/**
 * What a command answers. stdout carries one of `text` and `json`, nothing else ever; what is said on the way
 * goes to stderr through `BaseCommand.say`.
 */
export interface Answer {
  readonly exit: ExitCode;
  /** For people; '' when there is nothing to say on stdout, else it ends with a newline. */
  readonly text: string;
  /** For scripts, with --json: one document, held to schemas/. */
  readonly json: unknown;
}
