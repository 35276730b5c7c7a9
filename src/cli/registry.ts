import type { Command, Config } from '@oclif/core';
import type { Answer } from './answer.ts';
import type { Invocation } from './invocation.ts';

/** Name of each command to the import of its file, in the order of the help. Nothing is loaded until it is asked for. */
export type Registry = Readonly<Record<string, () => Promise<{ readonly default: CommandClass }>>>;

/** A command as its file exports it: `export default class Grab extends BaseCommand`. */
export type CommandClass = Omit<typeof Command, 'prototype'> &
  (new (
    argv: string[],
    config: Config,
  ) => Command & Answering);

/** The frame's side of BaseCommand. */
export interface Answering {
  answer(context: CommandContext): Promise<Answer>;
}

/** What every command can reach as `this.context`. */
export interface CommandContext extends Invocation {
  readonly registry: Registry;
}
