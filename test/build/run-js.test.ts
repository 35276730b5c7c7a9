import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { RUN_JS } from './dist.ts';

const run = (node: string, args: readonly string[], preload: readonly string[] = []) =>
  spawnSync(node, [...preload, RUN_JS, ...args], { encoding: 'utf8' });

/** A module that makes node say another version; `import` of it runs before the script. */
function claims<T>(version: string, use: (preload: readonly string[]) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'claims-'));
  try {
    const hook = join(folder, 'hook.cjs');
    writeFileSync(hook, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
    return use(['--require', hook]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('bin/run.js', () => {
  it('runs the built program', () => {
    expect(run(process.execPath, ['--version'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(manifest.version),
    });
    expect(run(process.execPath, ['nope']).status).toBe(2);
  });

  it.each(['10.24.1', '18.20.0', '20.20.2', '22.12.0'])('says in one line what it needs on node %s', version => {
    const { status, stdout, stderr } = claims(version, preload => run(process.execPath, ['--version'], preload));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^stallcap needs Node\.js 22\.13 or newer, and this is [\d.]+; .*\n$/);
    expect(stderr).toContain(version);
  });

  it.each(['22.13.0', '24.0.0', '100.0.0'])('goes on with node %s', version => {
    expect(claims(version, preload => run(process.execPath, ['--version'], preload)).status).toBe(0);
  });

  it('names what package.json asks for', () => {
    expect(manifest.engines.node).toBe('>=22.13');
  });

  it('is understood by a real old node', ({ skip }) => {
    const path = (process.env['PATH'] ?? '').split(':').filter(place => !place.includes('node_modules'));
    const found = path.map(place => spawnSync(join(place, 'node'), ['--version'], { encoding: 'utf8' }));
    const at = found.findIndex(({ stdout }) => /^v(?:1\d|20|21)\./.test(stdout ?? ''));
    skip(at < 0, 'no node older than 22 in PATH');
    expect(run(join(path[at] ?? '', 'node'), ['--version'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('needs Node.js 22.13'),
    });
  });
});
