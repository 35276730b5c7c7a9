import { readFileSync } from 'node:fs';
import type * as Page from '../../src/report/html/page.ts';
import { readReport } from '../../src/report/read-report.ts';
import { load } from './load.ts';

/** Makes the page of a bundle, so that the code cache knows what a page needs. */
const [, , bundle = ''] = process.argv;
const judged = await readReport(async function* read() {
  yield readFileSync(bundle);
});
await load<typeof Page>('page').reportPage(judged);
