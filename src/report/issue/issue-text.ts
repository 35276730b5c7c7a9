import type { Judged } from '../read-report.ts';
export function issueText(_judged: Judged): string {
  return '';
}
