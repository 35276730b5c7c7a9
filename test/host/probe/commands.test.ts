import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHost, type LinuxHost } from '../../../src/host/linux.ts';
import { selfCommand } from '../../../src/host/self.ts';
import { alive } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';

let host: LinuxHost;
let folder = '';

beforeAll(() => {
  host = createHost();
  folder = mkdtempSync(join(tmpdir(), 'stallcap-commands-'));
});
afterAll(async () => {
  await host.close();
  rmSync(folder, { recursive: true });
});

const sh = (script: string, more: { timeoutMs?: number; maxBytes?: number; keep?: 'head' | 'tail' } = {}) =>
  host.run({ argv: ['sh', '-c', script], timeoutMs: 10_000, ...more });

/** Pids that a script wrote into files of the folder. */
const pidsIn = (name: string) => Number(readFileSync(join(folder, name), 'utf8'));

describe('a command in a probe', () => {
  it('runs at the root, also when the directory that all was started in was removed', async () => {
    const removed = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"';
    const [, entry = ''] = selfCommand();
    const lost = createHost({ self: ['sh', '-c', removed, join(folder, 'removed'), process.execPath, entry] });
    try {
      const { outcome, stdout } = await lost.run({ argv: ['pwd'], timeoutMs: 10_000 });
      expect([outcome, stdout.toString()]).toEqual(['ok', '/\n']);
    } finally {
      await lost.close();
    }
  });

  it('gives its output as it is, and its exit code', async () => {
    const result = await sh('printf "out\\n\\n"; printf "err\\n" >&2');
    expect([result.outcome, result.exitCode, `${result.stdout}`, `${result.stderr}`]).toEqual([
      'ok',
      0,
      'out\n\n',
      'err\n',
    ]);
    expect(result.durationMs).toBeGreaterThan(0);
    expect(await sh('echo partly; exit 3')).toMatchObject({ outcome: 'error', exitCode: 3, detail: 'exit code 3' });
    expect(await sh('kill -SEGV $$')).toMatchObject({ outcome: 'error', detail: 'ended by SIGSEGV' });
  });

  it('is absent when no place has it', async () => {
    expect(await host.run({ argv: ['no-such-tool'], timeoutMs: 5000 })).toMatchObject({
      outcome: 'absent',
      exitCode: null,
    });
    expect(await host.run({ argv: ['/no/such/tool'], timeoutMs: 5000 })).toMatchObject({ outcome: 'absent' });
  });

  it('is an error when what has its name cannot be started', async () => {
    writeFileSync(join(folder, 'no-program'), '#!/no/such/interpreter\n', { mode: 0o755 });
    const result = await host.run({ argv: [join(folder, 'no-program')], timeoutMs: 5000 });
    expect(result).toMatchObject({ outcome: 'error', exitCode: null });
    expect(result.detail).toContain('ENOENT');
  });

  it('is found in sbin even when PATH has no sbin', async () => {
    const result = await host.run({ argv: ['ldconfig', '--version'], timeoutMs: 5000, env: { PATH: '/nowhere' } });
    expect(result.outcome).toBe('ok');
  });

  it('is looked for past a place of PATH that cannot be entered', async () => {
    // To root all are open, so a link to itself stands for one that is closed.
    symlinkSync('loop', join(folder, 'loop'));
    const result = await host.run({ argv: ['true'], timeoutMs: 5000, env: { PATH: `${folder}/loop:/usr/bin:/bin` } });
    expect(result.outcome).toBe('ok');
  });

  it('reads nothing from our stdin and gets the environment that was given', async () => {
    const result = await host.run({
      argv: ['sh', '-c', 'cat; echo "$GIVEN $LC_ALL"'],
      timeoutMs: 5000,
      env: { GIVEN: 'x' },
    });
    expect(`${result.stdout}`).toBe('x C.UTF-8\n');
  });

  it('is cut at the cap: the first bytes, and it is ended', async () => {
    const result = await sh('yes 0123456789', { maxBytes: 25 });
    expect(result).toMatchObject({ outcome: 'truncated', detail: 'first 25 bytes of each output' });
    expect(`${result.stdout}`).toBe('0123456789\n0123456789\n012');
  });

  it('is cut at the cap: the last bytes, after its end', async () => {
    const result = await sh('seq 1 200000', { maxBytes: 14, keep: 'tail' });
    expect(result).toMatchObject({ outcome: 'truncated', exitCode: 0 });
    expect(`${result.stdout}`).toBe('199999\n200000\n');
    expect(await sh('echo all', { maxBytes: 4, keep: 'tail' })).toMatchObject({ outcome: 'ok' });
    expect(await sh('echo longer; exit 4', { maxBytes: 4, keep: 'tail' })).toMatchObject({
      outcome: 'truncated',
      exitCode: 4,
    });
  });

  it('is given up after its time, with what it said before and what it was', async () => {
    const stuck = host.stuckProbes.length;
    const result = await sh('echo begun; trap "" TERM INT HUP; sleep 1000', { timeoutMs: 3000 });
    expect(result).toMatchObject({ outcome: 'timeout', exitCode: null, detail: 'no end within 3000 ms' });
    expect(`${result.stdout}`).toBe('begun\n');
    expect(result.durationMs).toBeLessThan(4000);
    const [record] = host.stuckProbes.slice(stuck);
    expect(record).toMatchObject({ request: 'run', item: expect.stringContaining('echo begun') });
    expect(record?.children.map(child => child.split(' ')[1])).toEqual(['sh', 'sleep']);
  });

  it('takes its descendants along, also those that left for a session of their own', async () => {
    const script = `sleep 1001 & echo $! > '${folder}/child'; setsid sleep 1002 & echo $! > '${folder}/session'; trap "" TERM; wait`;
    expect((await sh(script, { timeoutMs: 3000 })).outcome).toBe('timeout');
    await until('both to be gone', 5000, () => !alive(pidsIn('child')) && !alive(pidsIn('session')));
  });

  it('is over when its output is closed by nobody: something that it left behind does not hold it longer than its time', async () => {
    const result = await sh(`sleep 1003 & echo $! > '${folder}/left'; echo done`, { timeoutMs: 3000 });
    expect(result.outcome).toBe('timeout');
    expect(`${result.stdout}`).toBe('done\n');
    await until('it to be gone', 5000, () => !alive(pidsIn('left')));
  });

  it('ends when it is called off', async () => {
    const controller = new AbortController();
    const running = host.run({
      argv: ['sh', '-c', `echo $$ > '${folder}/called'; sleep 1004`],
      timeoutMs: 20_000,
      signal: controller.signal,
    });
    await until('it to run', 5000, () => readdirSync(folder).includes('called') && pidsIn('called') > 0);
    controller.abort();
    expect(await running).toMatchObject({ outcome: 'timeout', detail: 'aborted' });
    await until('it to be gone', 5000, () => !alive(pidsIn('called')));
  });

  it('does not keep others waiting', async () => {
    const slow = sh('sleep 6; echo slow');
    const began = performance.now();
    const quick = await Promise.all([
      sh('echo quick'),
      host.readRisky([{ path: '/proc/version' }], { deadlineMs: 5000 }),
    ]);
    expect(quick[0].outcome).toBe('ok');
    expect(quick[1][0]?.outcome).toBe('ok');
    expect(performance.now() - began).toBeLessThan(5500);
    expect(`${(await slow).stdout}`).toBe('slow\n');
  });
});
