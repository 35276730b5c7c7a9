import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INCIDENTS } from '../../scripts/incidents/incidents.ts';
import { renderings } from '../../scripts/incidents/renderings.ts';
import { verifyBundle } from '../../src/bundle/verify.ts';
import { readReport } from '../../src/report/read-report.ts';

const PLACE = join(import.meta.dirname, '../../examples/incidents');
const bytesOf = (name: string) =>
  async function* read() {
    yield readFileSync(join(PLACE, name, 'bundle.tar.gz'));
  };

/** What its report says first. */
const SAID: Readonly<Record<string, string>> = {
  'docker-against-containerd': 'containerd-stopped',
  'exit-event-lost': 'exit-event-lost',
  'start-on-capped-disk': 'disk-capped',
  'state-behind-delete': 'state-behind-delete',
  'umount-sync': 'overlay-umount-sync',
};

describe('the incidents in examples', () => {
  it('are those that scripts/incidents.ts makes', () => {
    const folders = readdirSync(PLACE, { withFileTypes: true }).flatMap(entry =>
      entry.isDirectory() ? [entry.name] : [],
    );
    expect(folders.toSorted()).toEqual(INCIDENTS.map(({ name }) => name).toSorted());
    expect(Object.keys(SAID)).toEqual(folders.toSorted());
  });

  // Not the same as they are written: `npx vitest run test/examples -u`
  it.each(Object.entries(SAID))(
    '%s has the reports that are made of its bundle today, which names %s',
    async (name, rule) => {
      const judged = await readReport(bytesOf(name));
      expect(judged.report.outcome).toBe('stall');
      expect(judged.report.findings[0]?.rule).toBe(rule);
      for (const [ending, text] of await renderings(judged)) {
        await expect(text).toMatchFileSnapshot(join(PLACE, name, `report.${ending}`));
      }
    },
  );

  it.each(Object.keys(SAID))('%s is whole, small, and of nobody', async name => {
    expect(await verifyBundle(bytesOf(name)())).toMatchObject({ whole: true });
    for (const file of ['bundle.tar.gz', 'report.md', 'report.html']) {
      expect(statSync(join(PLACE, name, file)).size).toBeLessThan(200_000);
    }
    const page = readFileSync(join(PLACE, name, 'report.html'), 'utf8');
    expect(page).toContain('node-7');
    expect(page).not.toMatch(/node_modules|\/dist\/stallcap/);
  });
});
