import { Args, Flags } from '@oclif/core';
import type { Answer } from '../src/cli/answer.ts';
import { attachedFile } from '../src/cli/attached-file.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { bundleFile } from '../src/cli/bundle-file.ts';
import { rereadable } from '../src/cli/rereadable.ts';
import { writeResultFile } from '../src/cli/result-file.ts';
import { EXIT } from '../src/errors.ts';
import { printable } from '../src/formats/escape.ts';
import { fileChunks, openFile } from '../src/host/open-file.ts';
import { openOutput } from '../src/host/writer/output.ts';
import { issueText } from '../src/report/issue/issue-text.ts';
import { reportMarkdown } from '../src/report/markdown.ts';
import { type Judged, readReport } from '../src/report/read-report.ts';
import { COLOURS, PLAIN } from '../src/report/terminal/paint.ts';
import { reportText } from '../src/report/terminal/report-text.ts';

const FORMATS = ['text', 'md', 'html', 'json'] as const;
type Format = (typeof FORMATS)[number];

export default class Report extends BaseCommand {
  static override summary = 'Say what a bundle shows: the stall, who waits for whom, and what it rests on.';
  static override description =
    'Works on the bundle alone, on any machine, and on one that was cut by what came before the cut. Exit code 0 for a ' +
    'whole bundle, also when there is no stall in it; 3 for a cut one.';
  static override examples = [
    'stallcap report web-0.tar.gz',
    'stallcap report web-0.tar.gz --format html -o web-0.html',
    'ssh node7 cat /run/stallcap/web-0.tar.gz | stallcap report - --json',
    'stallcap report web-0.tar.gz --attach describe.txt --attach events.yaml',
    'stallcap report web-0.tar.gz --for containerd > issue.md',
  ];
  static override args = {
    bundle: Args.string({ description: "The bundle's path, or - for standard input.", required: true }),
  };
  static override flags = {
    output: Flags.string({ char: 'o', summary: 'File to write it to.', helpValue: '<path>' }),
    format: Flags.option({ summary: 'What to make.', options: FORMATS, default: 'text' as const })(),
    attach: Flags.string({
      summary: 'A file with what `kubectl describe pod` or `kubectl get events` says; may be given more than once.',
      helpValue: '<file>',
      multiple: true,
    }),
    for: Flags.option({
      summary: 'An issue for the maintainers of a project, with what they always ask for.',
      options: ['containerd'] as const,
      exclusive: ['format'],
    })(),
  };

  override async run(): Promise<Answer> {
    const { args, flags } = await this.parse(Report);
    const attached = await Promise.all((flags.attach ?? []).map(path => attachedFile(path, openFile)));
    const judged = await readReport(
      rereadable(args.bundle, () => bundleFile(args.bundle, fileChunks)),
      attached,
    );
    for (const { name, events, fault } of judged.attached) {
      if (events.length === 0 || fault !== null) this.say(attachedWords(name, events.length, fault));
    }
    const exit = judged.report.capture.cut ? EXIT.incomplete : EXIT.complete;
    const toFile = flags.output !== undefined;
    const format = flags.for === undefined ? flags.format : 'issue';
    const text = await render(judged, format, !toFile && process.stdout.isTTY && !process.env['NO_COLOR']);
    if (flags.output === undefined) return { exit, text, json: judged.report };
    const path = await writeResultFile(flags.output, [Buffer.from(text)], openOutput);
    return { exit, text: `${path}\n`, json: judged.report };
  }
}

/** `events.yaml: 3 events of the pod were read; not all of it is understood: line 7: …` */
function attachedWords(name: string, events: number, fault: string | null): string {
  const read =
    events === 1 ? '1 event of the pod was read' : `${events === 0 ? 'no' : events} events of the pod were read`;
  return printable(`${name}: ${read}${fault === null ? '' : `; not all of it is understood: ${fault}`}.`);
}

async function render(judged: Judged, format: Format | 'issue', coloured: boolean): Promise<string> {
  const { report } = judged;
  if (format === 'issue') return issueText(judged);
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  if (format === 'md') return reportMarkdown(report);
  if (format === 'text') return reportText(report, coloured ? COLOURS : PLAIN);
  // Charts are for pages alone: no other command waits for them.
  const { reportPage } = await import('../src/report/html/page.ts');
  return reportPage(judged);
}
