import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

describe('the tally of npm test', () => {
  const script = fileURLToPath(new URL('fixtures/tally/run.ts', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 60_000 });
  const { line, skipped } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}');

  it('counts a failing hook and a file that cannot be loaded as failures', () => {
    expect(line).toBe('1 passed, 3 failed, 4 skipped');
  });

  it('says why each test did not run', () => {
    expect(skipped).toContain('is skipped for a reason: no such device here');
    expect(skipped).toContain('is skipped without one: no reason given');
  });
});
