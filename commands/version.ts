import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { versionAnswer } from '../src/cli/version-answer.ts';

export default class Version extends BaseCommand {
  static override summary = 'Say which version this is, and on which runtime it runs.';
  static override examples = ['stallcap version', 'stallcap version --json'];

  override async run(): Promise<Answer> {
    await this.parse(Version);
    return versionAnswer();
  }
}
