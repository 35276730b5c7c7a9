import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openFolder } from './folder.ts';
import { mounts } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { until } from './wait.ts';

const DEMO = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url));

/** Runs the demo with a temporary directory of its own, in which everything that it makes has to be, and to be gone. */
async function demo(stopWhen?: RegExp) {
  await using folder = await openFolder();
  // A short name: the path of a socket below it has to stay within 107 bytes.
  const tmp = join(folder.path, 't');
  mkdirSync(tmp);
  const child = spawn(process.execPath, [DEMO], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: tmp },
  });
  folder.process(child.pid ?? -1, 'demo');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
  }
  const closed = once(child, 'close');
  if (stopWhen !== undefined) {
    await until(`the demo to say ${stopWhen}`, 90_000, () => {
      if (child.exitCode !== null) throw new Error(`the demo ended: ${said}`);
      return stopWhen.test(said);
    });
    child.kill('SIGINT');
  }
  const [exit] = await closed;
  const left = [
    ...readdirSync(tmp).filter(name => name.startsWith('stallcap')),
    ...mounts().flatMap(({ point, source }) => ([point, source].some(path => path.startsWith(tmp)) ? [point] : [])),
  ];
  return { exit, said, left };
}

describe.skipIf(labUnavailable())('the demo', () => {
  it('makes a stall, captures it, shows what proves it, and leaves nothing behind', async () => {
    const { exit, said, left } = await demo();
    expect(exit, said).toBe(0);
    expect(left).toEqual([]);
    expect(said).toMatch(/^Verdict: A thread of the shim has been unmounting a container's disk for /m);
    expect(said).toContain('Blocked: 1 thread of this pod');
    expect(said).toMatch(/whole, \d+ entries with the right hash/);
    expect(said).toMatch(/wb_wait_for_completion < .*ovl_sync_fs < .*cleanup_mnt/);
    expect(said).toMatch(/goroutine \d+ \[syscall/);
    expect(said).toMatch(/unix\.Unmount\n/);
    expect(said).toMatch(/"FinishedAt":0/);
    expect(said).toMatch(/^ +\(none of \d+ threads is of process \d+\)$/m);
    expect(said.match(/ [1-9]\d* requests in flight$/gm)).toHaveLength(3);
  });

  it.each([
    ['while the stall is made', /A pod gets stuck/],
    ['in the middle of the grab', /First look at shim/],
  ])('that is stopped %s leaves nothing behind either', async (_, moment) => {
    const { exit, said, left } = await demo(moment);
    expect(exit, said).toBe(130);
    expect(left).toEqual([]);
    expect(said).toContain('Stopped by SIGINT; everything is taken away again.');
    expect(said).not.toContain('What is in the bundle');
  });
});
