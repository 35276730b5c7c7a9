import { CommandHelp, type Config, Help } from '@oclif/core';
import { EXIT } from '../errors.ts';
import { DESCRIPTION, VERSION } from '../version.ts';

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  complete: 'complete',
  fault: 'stallcap itself failed',
  usage: 'usage: a bad flag, or a target that could be several',
  incomplete: 'there is a result, but something is missing from it or wrong with it; what and why is printed',
  noTarget: 'no such target on this node',
  notPermitted: 'not permitted; the missing right is printed',
};

/** The summary stands on top: the description does not say it again. */
class OneCommand extends CommandHelp {
  override description(): string | undefined {
    const { description } = this.command;
    return description === undefined ? undefined : this.wrap(description);
  }
}

/** oclif's layout, as text instead of printed, with the commands in the registry's order and the exit codes. */
export class HelpText extends Help {
  protected override CommandHelpClass = OneCommand;
  readonly #names: readonly string[];

  constructor(config: Config, names: readonly string[]) {
    super(config, { flagSortOrder: 'none' });
    this.#names = names;
  }

  /** `stallcap --help` */
  program(): string {
    const { bin } = this.config;
    const commands = this.#names.map(name => [name, this.config.findCommand(name)?.summary ?? ''] as [string, string]);
    const codes = Object.entries(EXIT_MEANINGS).map(
      ([name, meaning]) => [String(EXIT[name as keyof typeof EXIT]), meaning] as [string, string],
    );
    return this.#joined([
      `${DESCRIPTION}. (${VERSION})`,
      this.section('USAGE', `$ ${bin} COMMAND [FLAGS]\n$ ${bin} COMMAND --help`),
      this.section('COMMANDS', commands),
      this.section('EXIT CODES', codes),
    ]);
  }

  /** `stallcap grab --help` */
  one(name: string): string {
    const command = this.config.findCommand(name, { must: true });
    return this.#joined([this.summary(command), this.formatCommand(command)]);
  }

  #joined(parts: readonly (string | undefined)[]): string {
    return `${parts.filter(Boolean).join('\n\n').trimEnd()}\n`;
  }
}
