import { describe, expect, it } from 'vitest';
import { compareWithManifest, type Met, parseManifest } from '../../src/bundle/compare-manifest.ts';
import type { Item } from '../../src/bundle/manifest.ts';

const sha = (letter: string) => letter.repeat(64);

function item(path: string, letter: string, bytes = 3): Item {
  const how = { collector: 'c', phase: 'files', source: path, offsetMs: 1, durationMs: 1, outcome: 'ok' } as const;
  return { path, ...how, bytes, sha256: sha(letter), redactions: 0 };
}

function met(path: string, letter: string, more: Partial<Met> = {}): Met {
  return { path, bytes: 3, sha256: sha(letter), state: 'intact', ...more };
}

const ITEMS = [item('plan.json', 'a'), item('x', 'b'), item('y', 'c')];
const MET = [met('plan.json', 'a'), met('x', 'b'), met('y', 'c')];

function codes(entries: readonly Met[], items: readonly Item[] = ITEMS) {
  const { problems, missing } = compareWithManifest(entries, items);
  return { problems: problems.map(({ code, path }) => `${code} ${path}`), missing };
}

describe('comparing a bundle with its manifest', () => {
  it('finds nothing where all is there, the same, in order', () => {
    expect(codes(MET)).toEqual({ problems: [], missing: [] });
  });

  it('finds an entry that is missing', () => {
    expect(codes([MET[0], MET[2]] as Met[])).toEqual({ problems: ['missing null'], missing: ['x'] });
  });

  it('finds an entry that was added', () => {
    expect(codes([...MET, met('z', 'd')])).toEqual({ problems: ['added z'], missing: [] });
  });

  it('finds entries that changed places', () => {
    expect(codes([MET[0], MET[2], MET[1]] as Met[])).toEqual({ problems: ['out-of-order null'], missing: [] });
  });

  it('finds another body whose hash beside it was changed, too', () => {
    expect(codes([MET[0], met('x', 'd'), MET[2]] as Met[]).problems).toEqual(['altered x']);
    expect(codes([MET[0], met('x', 'b', { bytes: 4 }), MET[2]] as Met[]).problems).toEqual(['altered x']);
  });
});

describe('parseManifest', () => {
  it.each([
    ['not JSON', '{"format":1'],
    ['another format', '{"format":2,"capture":{"outcome":"complete"},"items":[]}'],
    ['no items', '{"format":1,"capture":{"outcome":"complete"}}'],
    ['items that are none', '{"format":1,"capture":{"outcome":"complete"},"items":[null]}'],
    ['null', 'null'],
  ])('refuses %s', (_, text) => {
    expect(parseManifest(text)).toBeNull();
  });

  it('takes a manifest with more in it than it knows', () => {
    const text = '{"format":1,"new":1,"capture":{"outcome":"complete"},"items":[{"path":"a","sha256":"b"}]}';
    expect(parseManifest(text)?.items).toHaveLength(1);
  });
});
