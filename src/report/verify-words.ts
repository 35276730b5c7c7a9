import type { Verification } from '../bundle/verify-result.ts';
import { formatSize } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';

const SHOWN = 20;

/** What `stallcap verify` says on stdout: one line when all is well, else what is wrong and what is missing. */
export function verifyWords(bundle: string, seen: Verification): string {
  const what = `${bundle}: ${seen.state}, ${seen.entries} entries with the right hash, ${formatSize(seen.bytes)}`;
  const lines = [what];
  if (seen.captureOutcome !== null && seen.captureOutcome !== 'complete') {
    lines.push(`The capture itself was ${seen.captureOutcome}: manifest.json says what it lacks.`);
  }
  if (seen.state === 'cut') lines.push(`Readable up to ${seen.lastWhole ?? 'no entry'}.`);
  lines.push(
    ...listed(
      'Problem',
      seen.problems.map(({ path, says }) => (path === null ? says : `${path}: ${says}`)),
    ),
  );
  lines.push(...listed('Missing', seen.missing));
  return `${lines.map(printable).join('\n')}\n`;
}

function listed(title: string, all: readonly string[]): readonly string[] {
  const rest = all.length - SHOWN;
  return [...all.slice(0, SHOWN).map(line => `${title}: ${line}`), ...(rest > 0 ? [`and ${rest} more`] : [])];
}
