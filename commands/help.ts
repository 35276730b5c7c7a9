import { Args } from '@oclif/core';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { helpAnswer } from '../src/cli/help.ts';

export default class HelpCommand extends BaseCommand {
  static override summary = 'Show what a command does, its flags and examples.';
  static override examples = ['stallcap help', 'stallcap help version'];
  static override args = { command: Args.string({ description: 'Name of a command.' }) };

  override async run(): Promise<Answer> {
    const { args } = await this.parse(HelpCommand);
    return helpAnswer(this.context.registry, args.command ?? null);
  }
}
