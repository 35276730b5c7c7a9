/** One row of /proc/<pid>/limits: proc_pid_limits(5), kernel fs/proc/base.c proc_pid_limits. */
export interface Limit {
  /** `Max open files`. */
  readonly name: string;
  /** Infinity for `unlimited`. */
  readonly soft: number;
  readonly hard: number;
  /** `files`, `bytes`, `us`; null for the two priorities. */
  readonly unit: string | null;
}

/** Names hold single blanks; at least two part the columns. */
const ROW = /^(Max \S+(?: \S+)*) {2,}(\d+|unlimited) {2,}(\d+|unlimited) *(\S+)? *$/;

const value = (word: string | undefined) => (word === 'unlimited' ? Number.POSITIVE_INFINITY : Number(word));

export function parseLimits(text: string): readonly Limit[] {
  const limits: Limit[] = [];
  for (const line of text.split('\n')) {
    // No row of the kernel is longer than its four columns.
    const [, name, soft, hard, unit] = (line.length <= 200 && ROW.exec(line)) || [];
    if (name !== undefined) limits.push({ name, soft: value(soft), hard: value(hard), unit: unit ?? null });
  }
  return limits;
}
