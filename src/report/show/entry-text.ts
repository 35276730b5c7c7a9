import { printable } from '../../formats/escape.ts';

/** The text of an entry for eyes: lines stay, tabs become spaces, and whatever a terminal would obey is made visible. */
export function entryText(body: Buffer): string {
  const lines = body.toString('utf8').split('\n');
  const text = lines.map(line => printable(line.replace(/\t/g, '    '))).join('\n');
  return text.endsWith('\n') || text === '' ? text : `${text}\n`;
}
