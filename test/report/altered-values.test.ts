import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { difference } from '../../src/report/diff/diff.ts';
import { diffText } from '../../src/report/diff/diff-text.ts';
import { issueText } from '../../src/report/issue/issue-text.ts';
import { reportMarkdown } from '../../src/report/markdown.ts';
import { PLAIN } from '../../src/report/terminal/paint.ts';
import { reportText } from '../../src/report/terminal/report-text.ts';
import { type Entries, FIXTURE_KINDS, fixtureEntries, judgedFixture, judgedFrom } from './fixture-bundle.ts';

/** All that is made of a bundle but the page. */
function everyReport(entries: Entries, before: string): string {
  const judged = judgedFrom(entries);
  return [
    reportText(judged.report, PLAIN),
    reportMarkdown(judged.report),
    issueText(judged),
    JSON.stringify(judged.report),
    diffText(difference(judgedFixture(before), judged)),
  ].join('\n');
}

/** In the place of any value of a JSON document. */
const VALUE = fc.constantFrom<unknown>(
  ...[null, true, 0, -1, 1e308, 8.64e15, 8.7e15, 2 ** 53 + 2, 0.5, '', '\n', '9'.repeat(400), 'NaN', '__proto__', '/'],
  ...['2026-13-45T99:99:99Z', '+275760-09-13T00:00:00.000Z', '0001-01-01T00:00:00Z', 'x'.repeat(5000), '\ud800'],
  ...[[], {}, [null], [[[]]], JSON.parse('{"__proto__":{"kind":"node"},"constructor":1}')],
);
/** In the place of any number of a text. */
const NUMBER = fc.constantFrom(
  '-1',
  '0',
  '1e308',
  '9'.repeat(330),
  '18446744073709551615',
  'NaN',
  '',
  '8640000000000001',
);

/** Which place of a text or document is altered: 0 the first, 1 the last. */
const PLACE = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function altered(body: string, place: number, value: unknown, number: string): string {
  const document = body.trimStart().startsWith('{') ? parsed(body) : null;
  if (document === null) {
    const numbers = [...body.matchAll(/\d+/g)];
    const { 0: found = '', index = 0 } = numbers[Math.floor(place * numbers.length)] ?? {};
    return body.slice(0, index) + number + body.slice(index + found.length);
  }
  const places = placesIn(document);
  const { of, key } = places[Math.floor(place * places.length)] ?? { of: {}, key: '' };
  Object.defineProperty(of, key, { value, enumerable: true });
  return JSON.stringify(document);
}

function parsed(body: string): object | null {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

function placesIn(node: object): readonly { readonly of: object; readonly key: string }[] {
  return Object.entries(node).flatMap(([key, inner]) => [
    { of: node, key },
    ...(typeof inner === 'object' && inner !== null ? placesIn(inner) : []),
  ]);
}

describe('a bundle with a value that no grab writes', () => {
  it('gives a report, a diff and an issue, or says that it is no bundle', () => {
    const kind = fc.constantFrom(...FIXTURE_KINDS);
    const change = fc.record({ entry: PLACE, place: PLACE, value: VALUE, number: NUMBER });
    fc.assert(
      fc.property(kind, fc.array(change, { minLength: 1, maxLength: 4 }), (name, changes) => {
        const entries = new Map(fixtureEntries(name));
        const paths = [...entries.keys()];
        for (const { entry, place, value, number } of changes) {
          const path = paths[Math.floor(entry * paths.length)] ?? '';
          entries.set(path, altered(entries.get(path) ?? '', place, value, number));
        }
        try {
          everyReport(entries, name);
        } catch (error) {
          if ((error as Error).name !== 'BundleError') throw error;
        }
      }),
      { numRuns: 120 },
    );
  }, 60_000);

  it('shows a time that no calendar has as the last one that does', () => {
    const [kind = ''] = FIXTURE_KINDS;
    const entries = new Map(fixtureEntries(kind));
    const plan = JSON.parse(entries.get('plan.json') ?? '');
    entries.set('plan.json', JSON.stringify({ ...plan, startedAt: '+275760-09-13T00:00:00.000Z' }));
    expect(everyReport(entries, kind)).toContain('+275760-09-13T00:00:00.000Z');
  });

  it('leaves the times of a file alone that are none', () => {
    for (const kind of FIXTURE_KINDS) {
      const entries = new Map(fixtureEntries(kind));
      for (const [path, text] of entries) {
        if (path.endsWith('.stat')) entries.set(path, text.replace(/([mc]time)=\S+/g, '$1=@9999999999999.000000000'));
      }
      expect(() => everyReport(entries, kind)).not.toThrow();
    }
  });
});
