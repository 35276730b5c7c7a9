import { Args, Flags } from '@oclif/core';
import { redactBundle } from '../src/bundle/redact/redact-bundle.ts';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { bundleFile } from '../src/cli/bundle-file.ts';
import { writeResultFile } from '../src/cli/result-file.ts';
import { EXIT, StallcapError } from '../src/errors.ts';
import { printable } from '../src/formats/escape.ts';
import { fileChunks } from '../src/host/open-file.ts';
import { openOutput } from '../src/host/writer/output.ts';

export default class Redact extends BaseCommand {
  static override summary = 'Copy a bundle without its secrets, and without what you name.';
  static override description =
    'The copy is a bundle that verifies. Secrets that a grab takes out are looked for once more, which also cleans a bundle ' +
    'that was made with --no-redact. Names of entries stay, and the name of the folder in it; binary entries stay as they are.';
  static override examples = [
    'stallcap redact web-0.tar.gz -o public.tar.gz',
    "stallcap redact web-0.tar.gz -o public.tar.gz --pattern 'node-\\d+' --pattern acme",
  ];
  static override args = {
    bundle: Args.string({ description: "The bundle's path, or - for standard input.", required: true }),
  };
  static override flags = {
    output: Flags.string({ char: 'o', summary: 'Path of the copy.', helpValue: '<path>', required: true }),
    pattern: Flags.string({
      summary: 'A regular expression; all that it matches becomes [redacted:pattern].',
      helpValue: '<regex>',
      multiple: true,
    }),
  };

  override async run(): Promise<Answer> {
    const { args, flags } = await this.parse(Redact);
    const patterns = (flags.pattern ?? []).map(toPattern);
    // In memory until it is whole: a copy that fails in the middle must not be there.
    const chunks: Buffer[] = [];
    const copy = { write: (chunk: Buffer) => void chunks.push(chunk) };
    const made = await redactBundle(bundleFile(args.bundle, fileChunks), copy, { patterns });
    const path = await writeResultFile(flags.output, chunks, openOutput);
    const found = Object.entries(made.kinds).map(([kind, count]) => `${kind} ${count}`);
    this.say(
      `${made.redactions} taken out of ${made.entries} entries${found.length > 0 ? `: ${found.join(', ')}` : ''}`,
    );
    if (made.binary.length > 0)
      this.say(printable(`Not looked into, since they are no text: ${made.binary.join(', ')}`));
    return { exit: EXIT.complete, text: `${path}\n`, json: { bundle: path, ...made } };
  }
}

function toPattern(text: string): RegExp {
  try {
    return new RegExp(text, 'g');
  } catch (error) {
    throw new StallcapError(`'${text}' is not a regular expression.`, {
      ...{ code: 'bad-value', exit: EXIT.usage, cause: error },
    });
  }
}
