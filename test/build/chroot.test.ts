import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STALLCAP } from './dist.ts';

/** glibc (which these parts of it are one package with), libstdc++ and libgcc_s: what every distribution with glibc has. */
const LIBRARIES = [
  'ld-linux-x86-64.so.2',
  'libc.so.6',
  'libdl.so.2',
  'libgcc_s.so.1',
  'libm.so.6',
  'libpthread.so.0',
  'libstdc++.so.6',
];

const reason = process.getuid?.() === 0 ? '' : 'chroot needs root';

describe('in a root with glibc, libstdc++ and libgcc_s and nothing else', () => {
  let root: string;

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'bare-'));
    const libraries = execFileSync('ldd', [STALLCAP], { encoding: 'utf8' }).match(/\/\S+(?= \()/g) ?? [];
    expect(libraries.map(path => basename(path)).toSorted()).toEqual(LIBRARIES);
    for (const path of libraries) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      copyFileSync(path, join(root, path));
    }
    copyFileSync(STALLCAP, join(root, 'stallcap'));
    mkdirSync(join(root, 'proc'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** /proc is mounted in a namespace that goes with the process. */
  const inside = (...args: string[]) => {
    const script = 'mount --bind /proc "$0/proc" && exec chroot "$0" /stallcap "$@"';
    return spawnSync('unshare', ['--mount', 'sh', '-c', script, root, ...args], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'] },
    });
  };

  it.for([
    { args: ['--version'], stdout: /^stallcap \d/ },
    { args: ['--help'], stdout: /^Capture why/ },
    { args: ['list', '--json'], stdout: /^\{\n/ },
  ])('stallcap $args works', ({ args, stdout }, { skip }) => {
    skip(reason !== '', reason);
    expect(inside(...args)).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(stdout) });
  });

  it('even --version does without /proc', ({ skip }) => {
    skip(reason !== '', reason);
    const { status, stdout } = spawnSync('chroot', [root, '/stallcap', '--version'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^stallcap \d/) });
  });
});
