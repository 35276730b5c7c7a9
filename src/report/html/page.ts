import type { Judged } from '../read-report.ts';
export async function reportPage(_judged: Judged): Promise<string> {
  return '';
}
