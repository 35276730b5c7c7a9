import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { type Difference, difference } from '../../src/report/diff/diff.ts';
import { diffText } from '../../src/report/diff/diff-text.ts';
import type { Judged } from '../../src/report/read-report.ts';
import { type Entries, fixtureEntries, judgedFixture, judgedFrom } from './fixture-bundle.ts';

const schema = JSON.parse(readFileSync(new URL('../../schemas/diff.schema.json', import.meta.url), 'utf8'));
const validate = new Ajv2020({ allowUnionTypes: true }).compile(schema);

/** The same pod 60 s later, with the entries changed. */
function later(change: (entries: Map<string, string>) => void = () => {}): Judged {
  const entries = new Map(fixtureEntries('overlay-umount-sync'));
  for (const path of ['plan.json', 'manifest.json']) {
    const document = JSON.parse(entries.get(path) ?? '');
    const holder = path === 'plan.json' ? document : document.capture;
    holder.startedAt = new Date(Date.parse(holder.startedAt) + 60_000).toISOString();
    document.host.uptimeSeconds += 60;
    entries.set(path, JSON.stringify(document));
  }
  change(entries);
  return judgedFrom(entries as Entries);
}

function checked(diff: Difference): Difference {
  validate(JSON.parse(JSON.stringify(diff)));
  expect(validate.errors ?? []).toEqual([]);
  return diff;
}

describe('what changed between two bundles', () => {
  const first = judgedFixture('overlay-umount-sync');

  it('is a thread that has not moved, and requests that still wait', () => {
    const diff = checked(difference(first, later()));
    expect(diff).toMatchObject({ comparable: true, elapsedMs: 60_000, stuck: [], freed: [] });
    expect(diff.unmoved.map(({ where }) => where)).toContain('D in umount2');
    expect(diff.goroutines.aged.map(({ rpc }) => rpc)).toContain('Delete');
    expect(diff.findings.stayed).toContain('overlay-umount-sync');
    expect(diffText(diff)).toContain('has not moved: D in umount2');
  });

  it('is a thread that waits elsewhere now', () => {
    const moved = later(entries => {
      for (const [path, text] of entries) {
        if (path.startsWith('shim/threads'))
          entries.set(path, text.replaceAll('ovl_sync_fs', 'ovl_put_super').replace(/^166 0x\w+/gm, '166 0xdead'));
      }
    });
    const diff = checked(difference(first, moved));
    expect(diff.unmoved).toEqual([]);
    expect(diff.freed).toHaveLength(1);
    expect(diff.stuck).toHaveLength(1);
  });

  it('is a goroutine that multiplied', () => {
    const many = later(entries => {
      const dump = entries.get('shim/goroutines.txt') ?? '';
      const request = dump.split('\n\n').find(block => block.includes(').Delete('));
      expect(request).toBeDefined();
      const more = [901, 902].map(id => request?.replace(/^goroutine \d+/m, `goroutine ${id}`)).join('\n\n');
      entries.set('shim/goroutines.txt', dump.replace(request ?? '', `${request}\n\n${more}`));
    });
    const { multiplied } = checked(difference(first, many)).goroutines;
    expect(multiplied.some(({ before, after }) => after === before + 2)).toBe(true);
  });

  it('of two pods is in their findings alone', () => {
    const diff = checked(difference(first, judgedFixture('fs-frozen')));
    expect(diff).toMatchObject({ comparable: false, unmoved: [], stuck: [], views: [] });
    expect(diff.findings.ended).toContain('overlay-umount-sync');
    expect(diffText(diff)).toContain('Not the same pod');
  });

  it('fits into 80 columns', () => {
    expect(
      diffText(difference(first, later()))
        .split('\n')
        .filter(line => line.length > 80),
    ).toEqual([]);
  });
});
