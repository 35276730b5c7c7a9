import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { readReport } from '../../src/report/read-report.ts';
import type { Report } from '../../src/report/report.ts';
import { reportText } from '../../src/report/terminal/report-text.ts';
import { chunksOf, FIXTURE_KINDS, fixtureEntries, judgedFixture, judgedFrom, packed } from './fixture-bundle.ts';
import { EVIL, hostileEntries } from './hostile.ts';

const schema = JSON.parse(readFileSync(new URL('../../schemas/report.schema.json', import.meta.url), 'utf8'));

/** Every object closed: a property that the schema does not name is a fault here. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (node === null || typeof node !== 'object') return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, closed(inner)]));
  return copy['type'] === 'object' && copy['properties'] !== undefined
    ? { ...copy, additionalProperties: false }
    : copy;
}
const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(closed(schema) as object);

function expectValid(report: Report): void {
  validate(JSON.parse(JSON.stringify(report)));
  expect(validate.errors ?? []).toEqual([]);
}

describe('a report', () => {
  it('names the classic stall, what it rests on, and what waits for it', () => {
    const { report } = judgedFixture('overlay-umount-sync');
    expect(report.outcome).toBe('stall');
    const finding = report.findings.find(({ rule }) => rule === 'overlay-umount-sync');
    expect(finding).toMatchObject({ verdict: 'proved', kind: 'stall' });
    expect(finding?.because.map(({ text }) => text).join('\n')).toContain('ovl_sync_fs');
    expect(report.chain?.sentence).toContain('umount2');
  });

  it.each(FIXTURE_KINDS)('of %s is what its schema says', kind => expectValid(judgedFixture(kind).report));

  it('of a hostile bundle is what its schema says', () => expectValid(judgedFrom(hostileEntries()).report));

  it.each([0.2, 0.5, 0.9])('is made of a bundle of which %d are there, and says that it was cut', async share => {
    const file = await packed(fixtureEntries('overlay-umount-sync'));
    const half = file.subarray(0, Math.floor(file.length * share));
    const { report } = await readReport(() => chunksOf(half));
    expect(report.capture).toMatchObject({ cut: true, durationMs: null });
    expect(report.missing[0]?.what).toBe('the end of the bundle');
    expectValid(report);
  });

  it('says that there is no stall where nothing stands still', () => {
    expect(judgedFixture('healthy').report).toMatchObject({
      outcome: 'none',
      headline: 'No stall found.',
      chain: null,
    });
  });

  it('does not say so of what was never looked at', () => {
    const entries = new Map(fixtureEntries('overlay-umount-sync'));
    for (const path of entries.keys()) if (!/^(?:plan|manifest)\.json$/.test(path)) entries.delete(path);
    const { report } = judgedFrom(entries);
    expect(report).toMatchObject({ outcome: 'none', findings: [], chain: null });
    expect(report.headline).toBe(
      "No stall found in what was captured; not captured: the threads of the pod, the node's threads in D, the processes.",
    );
    expect(report.notApplicable.length).toBeGreaterThan(0);
  });
});

describe('the timeline', () => {
  it('shows how long a thread has stood still, up to the capture', () => {
    const { report, facts } = judgedFixture('overlay-umount-sync');
    const stuck = report.timeline.spans.find(({ kind }) => kind === 'stuck');
    expect(stuck?.what).toBe('D in umount2');
    const lasted = Date.parse(stuck?.to ?? '') - Date.parse(stuck?.from ?? '');
    const thread = facts.threads?.all.find(({ call }) => call?.name === 'umount2');
    expect(lasted).toBe(Math.round(thread?.blockedForMs ?? 0));
    expect(report.timeline.spans.at(-1)).toMatchObject({ kind: 'capture', layer: 'capture' });
  });

  it('is in order', () => {
    for (const kind of FIXTURE_KINDS) {
      const times = judgedFixture(kind).report.timeline.events.map(({ at }) => at);
      expect(times).toEqual(times.toSorted());
    }
  });
});

describe('the report on a terminal', () => {
  it.each(FIXTURE_KINDS)('of %s fits into 80 columns', kind => {
    const lines = reportText(judgedFixture(kind).report).split('\n');
    expect(lines.filter(line => line.length > 80)).toEqual([]);
  });

  it('passes on nothing that a terminal obeys, or that turns text around', () => {
    const text = reportText(judgedFrom(hostileEntries()).report);
    expect(text).toContain('onerror');
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(EVIL).not.toMatch(/\p{Cc}/u);
  });
});
