import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRY, run } from '../cli/run.ts';
import { fixtureEntries, packed } from '../report/fixture-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'stallcap-diff-'));
const [a, cut] = [join(folder, 'a.tar.gz'), join(folder, 'cut.tar.gz')];

beforeAll(async () => {
  const file = await packed(fixtureEntries('overlay-umount-sync'));
  writeFileSync(a, file);
  writeFileSync(cut, file.subarray(0, file.length * 0.8));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('stallcap diff', () => {
  it('compares two bundles, in words and as JSON', () => {
    const { status, stdout } = run(['diff', a, a], { script: ENTRY });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('has not moved') });
    expect(JSON.parse(run(['diff', a, a, '--json'], { script: ENTRY }).stdout)).toMatchObject({
      format: 1,
      comparable: true,
    });
  });

  it('exits with 3 when one was cut', () => expect(run(['diff', a, cut], { script: ENTRY }).status).toBe(3));
});
