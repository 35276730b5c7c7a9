import type { FlagDescription } from '../command-description.ts';

/** Flags that need no command. */
export const PROGRAM_FLAGS = ['--help', '--version'] as const;

/** All ways to write a flag: '-o', '--output', '--no-signal'. */
export function spellings({ name, char, allowNo }: FlagDescription): string[] {
  return [...(char ? [`-${char}`] : []), `--${name}`, ...(allowNo ? [`--no-${name}`] : [])];
}

/** Whether a flag's value names a file or folder, told by what the help calls it. */
export function takesFile({ value = '' }: FlagDescription): boolean {
  return /file|dir|path|bundle/i.test(value);
}
