import type { CommandDescription } from '../command-description.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

/**
 * A script for each shell, made from the commands as they are. The scripts call nothing: completing a word on a node
 * that hangs must not start one more process there.
 */
export const COMPLETIONS: Readonly<Record<Shell, (commands: readonly CommandDescription[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];
