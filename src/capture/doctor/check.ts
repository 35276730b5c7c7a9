/** One thing that a grab needs of this node. */
export interface Check {
  /** Stable, kebab-case: 'cap-sys-ptrace'. */
  readonly name: string;
  /**
   * - `ok`
   * - `warn`: a grab is whole without it, but knows less, or is slower
   * - `lacks`: a grab here will be incomplete
   */
  readonly outcome: 'ok' | 'warn' | 'lacks';
  /** One sentence: what was seen, and what follows. */
  readonly says: string;
  /** What to do about it. */
  readonly next?: string;
}

export const ok = (name: string, says: string): Check => ({ name, outcome: 'ok', says });
export const warn = (name: string, says: string, next?: string): Check => found(name, 'warn', says, next);
export const lacks = (name: string, says: string, next?: string): Check => found(name, 'lacks', says, next);

function found(name: string, outcome: Check['outcome'], says: string, next: string | undefined): Check {
  return { name, outcome, says, ...(next === undefined ? {} : { next }) };
}
