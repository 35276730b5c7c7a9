import { Args } from '@oclif/core';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { bundleFile } from '../src/cli/bundle-file.ts';
import { EXIT } from '../src/errors.ts';
import { fileChunks } from '../src/host/open-file.ts';
import { difference } from '../src/report/diff/diff.ts';
import { diffText } from '../src/report/diff/diff-text.ts';
import { readReport } from '../src/report/read-report.ts';

export default class Diff extends BaseCommand {
  static override summary = 'Say what changed between two bundles of the same pod.';
  static override description =
    'Threads that have not moved, goroutines that aged or multiplied, containers of which a source believes something else, ' +
    'and what disks did in a second. Exit code 0 for two whole bundles, 3 when one was cut.';
  static override examples = ['stallcap diff before.tar.gz after.tar.gz', 'stallcap diff a.tar.gz b.tar.gz --json'];
  static override args = {
    a: Args.string({ description: 'The earlier bundle.', required: true }),
    b: Args.string({ description: 'The later bundle.', required: true }),
  };

  override async run(): Promise<Answer> {
    const { args } = await this.parse(Diff);
    // One after the other: two of 200 MB would not fit beside each other.
    const a = await readReport(() => bundleFile(args.a, fileChunks));
    const b = await readReport(() => bundleFile(args.b, fileChunks));
    const cut = a.report.capture.cut || b.report.capture.cut;
    const found = difference(a, b);
    return { exit: cut ? EXIT.incomplete : EXIT.complete, text: diffText(found), json: found };
  }
}
