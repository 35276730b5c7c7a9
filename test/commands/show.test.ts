import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRY, run } from '../cli/run.ts';
import { fixtureEntries, packed } from '../report/fixture-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'stallcap-show-'));
const bundle = join(folder, 'umount.tar.gz');
const entries = new Map([...fixtureEntries('overlay-umount-sync'), ['shim/evil.txt', 'a\tb\n\x1b[31mred\u202e\n']]);
const show = (...args: readonly string[]) => run(['show', ...args], { script: ENTRY });

beforeAll(async () => writeFileSync(bundle, await packed(entries)));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('stallcap show', () => {
  it('lists every entry', () => {
    const { status, stdout } = show(bundle);
    expect(status).toBe(0);
    for (const path of entries.keys()) expect(stdout).toContain(`  ${path}`);
  });

  it('shows the text of one, with nothing in it that a terminal obeys', () => {
    expect(show(bundle, 'shim/threads-1.txt').stdout).toBe(entries.get('shim/threads-1.txt'));
    expect(show(bundle, 'shim/evil.txt').stdout).toBe('a    b\n\\x1b[31mred\\u{202e}\n');
  });

  it('writes the very bytes to a file', () => {
    const path = join(folder, 'evil.txt');
    expect(show(bundle, 'shim/evil.txt', '-o', path)).toMatchObject({ status: 0, stdout: `${path}\n` });
    expect(readFileSync(path, 'utf8')).toBe(entries.get('shim/evil.txt'));
    const again = show(bundle, 'shim/evil.txt', '-o', path);
    expect(again.status).toBe(2);
    expect(again.stderr).toContain('is there already');
  });

  it('has no bytes to write where no entry is named', () => {
    const path = join(folder, 'all.txt');
    const { status, stderr } = show(bundle, '-o', path);
    expect(status).toBe(2);
    expect(stderr).toContain('none is named');
    expect(existsSync(path)).toBe(false);
  });

  it('says that an entry is not there, and where to look', () => {
    const { status, stderr } = show(bundle, 'shim/nothing.txt');
    expect(status).toBe(2);
    expect(stderr).toContain('stallcap show');
  });
});
