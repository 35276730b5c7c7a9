import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/diagnosis/diagnose.ts';
import { rules } from '../../src/diagnosis/rules/index.ts';
import { bundleNames, factsOfBundle } from './fixture-bundle.ts';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const filesIn = (folder: string, ending: string) =>
  readdirSync(at(folder))
    .filter(name => name.endsWith(ending) && name !== `index${ending}`)
    .map(name => name.slice(0, -ending.length));

describe('the table of contents of the rules', () => {
  const ids = rules.map(({ id }) => id);

  it('has every rule once, under the name of its file', () => {
    expect(ids.toSorted()).toEqual(filesIn('src/diagnosis/rules', '.ts').toSorted());
  });

  it.each(rules)('$id has a title, a test, and a page under that title', ({ id, title }) => {
    expect(title).toMatch(/^\S.*[^.\s]$/);
    expect(existsSync(at(`test/diagnosis/rules/${id}.test.ts`))).toBe(true);
    expect(readFileSync(at(`docs/rules/${id}.md`), 'utf8').split('\n')[0]).toBe(`# ${title}`);
  });
});

describe('all rules together', () => {
  it.each(bundleNames())('judge the real capture of %s without a fault', name => {
    const { failed, findings } = diagnose(factsOfBundle(name));
    expect(failed).toEqual([]);
    for (const { verdict, kind, ageMs, ageFrom, says } of findings) {
      if (kind === 'stall' && verdict !== 'possible') expect(ageMs).toBeGreaterThanOrEqual(5000);
      expect(ageFrom === null).toBe(ageMs === null);
      expect(says).not.toMatch(/undefined|null|NaN/);
    }
  });

  it.each(['healthy', 'somebody-syncs', 'limits-met'])('find no stall in the real capture of %s', name => {
    expect(diagnose(factsOfBundle(name))).toMatchObject({ outcome: 'none', chain: null });
  });
});
