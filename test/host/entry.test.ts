import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const entry = join(import.meta.dirname, '../../bin/main.ts');

/** Exit code and stdout of the entry, run from its sources with an empty stdin. */
async function run(...argv: string[]) {
  const child = spawn(process.execPath, [entry, ...argv], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', chunk => {
    stdout += chunk;
  });
  child.stderr?.on('data', chunk => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

describe('the entry', () => {
  it('is a probe or a writer before it is anything else, and ends with its parent', async () => {
    const probe = await run('--stallcap-probe', '--help');
    expect([probe.code, probe.stderr]).toEqual([0, '']);
    expect(probe.stdout).toContain('"ready"');
    const writer = await run('--stallcap-writer');
    expect(writer).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('runs the program, and ends with its exit code', async () => {
    const version = await run('--version');
    expect([version.code, version.stderr]).toEqual([0, '']);
    expect(version.stdout).toMatch(/^stallcap.*\d+\.\d+\.\d+/);
    expect((await run('no-such-command')).code).toBe(2);
  });
});
