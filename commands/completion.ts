import { Args } from '@oclif/core';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { describeCommand } from '../src/cli/command-description.ts';
import { COMPLETIONS, SHELLS } from '../src/cli/completion/shells.ts';
import { loadCommands } from '../src/cli/help.ts';
import { EXIT } from '../src/errors.ts';

export default class Completion extends BaseCommand {
  static override summary = 'Print the completion script for a shell.';
  static override examples = [
    'source <(stallcap completion bash)',
    'stallcap completion fish > ~/.config/fish/completions/stallcap.fish',
  ];
  static override args = {
    shell: Args.option({ options: SHELLS })({ description: 'The shell.', required: true }),
  };

  override async run(): Promise<Answer> {
    const { shell } = (await this.parse(Completion)).args;
    const classes = await loadCommands(this.context.registry);
    const commands = await Promise.all([...classes].map(([name, command]) => describeCommand(name, command)));
    const script = COMPLETIONS[shell](commands);
    return { exit: EXIT.complete, text: script, json: { shell, script } };
  }
}
