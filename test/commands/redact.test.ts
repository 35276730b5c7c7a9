import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evidence, makeBundle } from '../bundle/made/bundle.ts';
import { ENTRY, run } from '../cli/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'stallcap-redact-'));
const bundle = join(folder, 'whole.tar.gz');
const stallcap = (...args: readonly string[]) => run(args, { script: ENTRY });

beforeAll(async () => {
  const entries = [
    evidence('logs/containerd.log', 'node-17 says hello\nAuthorization: Bearer abcdefghijklmnopqrstuvwx\n'),
    evidence('node/clean.txt', 'nothing here\n'),
    evidence('node/binary.bin', Buffer.from([0, 1, 2, 3, 0, 255, 254, 0])),
  ];
  writeFileSync(bundle, (await makeBundle(entries)).file);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('stallcap redact', () => {
  it('makes a bundle that verifies, without secrets and without what the patterns match', () => {
    const copy = join(folder, 'copy.tar.gz');
    const made = stallcap('redact', bundle, '-o', copy, '--pattern', 'node-\\d+', '--json');
    expect(made.status).toBe(0);
    expect(JSON.parse(made.stdout)).toMatchObject({ bundle: copy, redactions: 2, kinds: { pattern: 1 } });
    const verified = stallcap('verify', copy, '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({ whole: true, problems: [], missing: [] });
    const log = stallcap('show', copy, 'logs/containerd.log').stdout;
    expect(log).toContain('[redacted:pattern] says hello');
    expect(log).not.toContain('abcdefghijklmnop');
    expect(stallcap('show', copy, 'node/clean.txt').stdout).toBe('nothing here\n');
    const manifest = JSON.parse(stallcap('show', copy, 'manifest.json').stdout);
    const item = manifest.items.find(({ path }: { path: string }) => path === 'logs/containerd.log');
    expect(item).toMatchObject({ redactions: 2, redacted: { pattern: 1 } });
  });

  it('keeps paths and hashes, whatever a pattern matches', () => {
    const copy = join(folder, 'greedy.tar.gz');
    expect(stallcap('redact', bundle, '-o', copy, '--pattern', '[a-z0-9]+').status).toBe(0);
    expect(JSON.parse(stallcap('verify', copy, '--json').stdout)).toMatchObject({ whole: true });
  });

  it('copies nothing of a bundle that was cut, and leaves no half of a copy', async () => {
    const cut = join(folder, 'cut.tar.gz');
    writeFileSync(cut, (await makeBundle([evidence('a', 'b'.repeat(5000))])).file.subarray(0, 400));
    const { status, stderr } = stallcap('redact', cut, '-o', join(folder, 'never.tar.gz'));
    expect(status).toBe(3);
    expect(stderr).toContain('cut');
    expect(readdirSync(folder).filter(name => name.includes('never'))).toEqual([]);
  });

  it('refuses a pattern that is none', () => {
    expect(stallcap('redact', bundle, '-o', join(folder, 'x'), '--pattern', '(').status).toBe(2);
  });
});
