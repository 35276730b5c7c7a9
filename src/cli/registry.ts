import type { Config } from '@oclif/core';
import type { BaseCommand } from './base-command.ts';

/** A command as its file exports it: `export default class Grab extends BaseCommand`. */
export type CommandClass = Omit<typeof BaseCommand, 'prototype'> &
  (new (
    argv: string[],
    config: Config,
  ) => BaseCommand);

/** Name of each command to the import of its file, in the order of the help. Nothing is loaded until it is asked for. */
export type Registry = Readonly<Record<string, () => Promise<{ readonly default: CommandClass }>>>;
