import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRY, run } from '../cli/run.ts';
import { fixtureEntries, packed } from '../report/fixture-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'stallcap-report-'));
const bundle = join(folder, 'umount.tar.gz');
const cut = join(folder, 'cut.tar.gz');
const report = (...args: readonly string[]) => run(['report', ...args], { script: ENTRY });

beforeAll(async () => {
  const file = await packed(fixtureEntries('overlay-umount-sync'));
  writeFileSync(bundle, file);
  writeFileSync(cut, file.subarray(0, file.length * 0.8));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('stallcap report', () => {
  it('says what the bundle shows, without colours where nobody looks', () => {
    const { status, stdout, stderr } = report(bundle);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('PROVED: ');
    expect(stdout).not.toContain('\x1b');
  });

  it('answers with one JSON document, with --json and with --format json alike', () => {
    const { stdout } = report(bundle, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ format: 1, outcome: 'stall' });
    expect(JSON.parse(report(bundle, '--format', 'json').stdout)).toEqual(JSON.parse(stdout));
  });

  it('reads standard input', () => {
    const { stdout } = run(['report', '-', '--format', 'html'], {
      script: ENTRY,
      input: readFileSync(bundle) as never,
    });
    expect(stdout).toBe(report(bundle, '--format', 'html').stdout);
  });

  it.each(['md', 'html', 'json'])('writes %s to a file that only its owner can read, and says where', format => {
    const path = join(folder, `out.${format}`);
    const { status, stdout } = report(bundle, '--format', format, '-o', path);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${path}\n` });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(report(bundle, '--format', format).stdout);
  });

  it('tells what it can of a bundle that was cut, and exits with 3', () => {
    const { status, stdout } = report(cut);
    expect(status).toBe(3);
    expect(stdout).toContain('cut before its end');
  });

  it('refuses what is no bundle, in one sentence', () => {
    writeFileSync(join(folder, 'no.tar.gz'), 'hello');
    const { status, stderr } = report(join(folder, 'no.tar.gz'));
    expect(status).toBe(3);
    expect(stderr).toMatch(/^\S.*\n/);
    expect(stderr).not.toContain('    at ');
    expect(report(join(folder, 'absent.tar.gz')).status).toBe(2);
  });
});
