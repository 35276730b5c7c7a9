import { styleText } from 'node:util';
import type { Failure } from './failure.ts';

/** What --json prints when a command fails. */
export interface FailureDocument {
  readonly error: {
    readonly code: string;
    readonly exit: number;
    readonly message: string;
    readonly next: readonly string[];
    readonly table?: string;
    readonly stack?: string;
  };
}

/** With --json, on stdout. @param debug with the stack */
export function failureDocument(failure: Failure, debug: boolean): FailureDocument {
  const { code, exit, message, next, table, stack } = failure;
  return { error: { code, exit, message, next, ...(table && { table }), ...(debug && stack && { stack }) } };
}

/** For stderr: the sentence, the candidates, what to do now. */
export function failureWords(failure: Failure, debug: boolean): string {
  const red = (text: string) => styleText('red', text, { stream: process.stderr });
  return [
    `${red('Error:')} ${failure.message}`,
    ...(failure.table ? ['', failure.table.trimEnd(), ''] : []),
    ...failure.next.map(step => `  → ${step}`),
    ...(debug && failure.stack ? ['', failure.stack] : []),
    '',
  ].join('\n');
}
