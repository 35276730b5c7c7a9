import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DETECTORS } from '../../src/bundle/redact/detectors.ts';
import { redact } from '../../src/bundle/redact/redact.ts';
import { rights } from '../../src/capture/doctor/rights.ts';
import { collectors } from '../../src/collectors/index.ts';
import { PaperHost } from '../collectors/paper-host.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECURITY = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');

/** Words in backticks in one column of the table below a heading. */
function namesIn(heading: string, column: number): readonly string[] {
  const section = SECURITY.split(/^#+ /m).find(text => text.startsWith(`${heading}\n`)) ?? '';
  const rows = section.split('\n').filter(line => line.startsWith('| ') && !line.startsWith('|---'));
  return rows
    .slice(1)
    .flatMap(row => [...(row.split(' | ')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
    .toSorted();
}

describe('SECURITY.md', () => {
  it('names every collector', () => {
    const listed = namesIn('What is collected', 1);
    const all = collectors.map(({ name }) => name);
    expect(
      all.filter(name => !listed.includes(name)),
      'collectors that SECURITY.md does not name',
    ).toEqual([]);
    expect(listed, 'each once, and no other').toEqual(all.toSorted());
  });

  it('names every kind of secret that is taken out', () => {
    const corpus = readFileSync(join(ROOT, 'test/fixtures/redaction/secrets.jsonl'), 'utf8').trim().split('\n');
    const texts = corpus.map(line => {
      const { text, secrets }: { text: string; secrets: string[][] } = JSON.parse(line);
      return text.split('<<>>').reduce((all, part, n) => all + (secrets[n - 1]?.join('') ?? '') + part);
    });
    const taken = texts.flatMap(text => Object.keys(redact(Buffer.from(text)).kinds));
    const listed = namesIn('What is removed', 0);
    expect([...new Set(taken)].filter(kind => !listed.includes(kind))).toEqual([]);
    // What the corpus has no example of stands in the code.
    const code = ['known-tokens', 'authorization', 'url', 'commands', 'env-list', 'private-key', 'names'].map(name =>
      readFileSync(join(ROOT, `src/bundle/redact/${name}.ts`), 'utf8'),
    );
    expect(listed.filter(kind => !code.some(text => text.includes(`'${kind}'`)))).toEqual([]);
    expect(DETECTORS.length).toBeGreaterThan(listed.length);
  });

  it('names every capability that doctor looks for', () => {
    const checks = rights(new PaperHost().host).filter(({ name }) => name.startsWith('cap-'));
    expect(namesIn('What root is needed for', 0)).toEqual(
      checks.map(({ name }) => name.toUpperCase().replaceAll('-', '_')).toSorted(),
    );
  });
});
