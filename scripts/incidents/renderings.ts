import { reportPage } from '../../src/report/html/page.ts';
import { reportMarkdown } from '../../src/report/markdown.ts';
import type { Judged } from '../../src/report/read-report.ts';

/** What stands beside a bundle in examples/incidents: ending of `report.…`, and text. */
export async function renderings(judged: Judged): Promise<readonly (readonly ['md' | 'html', string])[]> {
  return [
    ['md', reportMarkdown(judged.report)],
    ['html', await reportPage(judged)],
  ];
}
