import { Args } from '@oclif/core';
import { verifyBundle } from '../src/bundle/verify.ts';
import type { VerifyResult } from '../src/bundle/verify-result.ts';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { bundleFile } from '../src/cli/bundle-file.ts';
import { EXIT } from '../src/errors.ts';
import { fileChunks } from '../src/host/open-file.ts';
import { verifyWords } from '../src/report/verify-words.ts';

export default class Verify extends BaseCommand {
  static override summary = 'Check a bundle: every hash, the order, and that nothing is missing.';
  static override description =
    'Exit code 0 for a whole bundle; 3 for one that was cut or altered, with what can be trusted and what is missing.';
  static override examples = [
    'stallcap verify stallcap-node7-web-0-20260102T030405Z.tar.gz',
    'ssh node7 cat /run/stallcap/web-0.tar.gz | stallcap verify - --json',
  ];
  static override args = {
    bundle: Args.string({ description: "The bundle's path, or - for standard input.", required: true }),
  };

  override async run(): Promise<Answer> {
    const { bundle } = (await this.parse(Verify)).args;
    const seen = await verifyBundle(bundleFile(bundle, fileChunks));
    const exit = seen.whole ? EXIT.complete : EXIT.incomplete;
    const json: VerifyResult = { ...seen, bundle, exitCode: exit };
    return { exit, text: verifyWords(bundle, seen), json };
  }
}
