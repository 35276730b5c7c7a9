import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseThreadDump } from '../../src/formats/thread-dump.ts';
import { createHost, type LinuxHost } from '../../src/host/linux.ts';
import { during } from '../lab/during.ts';
import { type LabFolder, openFolder } from '../lab/folder.ts';
import { status, withDescendants } from '../lab/proc.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { run } from '../lab/run.ts';
import { manyThreads } from '../lab/stalls/many-threads.ts';
import { until } from '../lab/wait.ts';

const exec = promisify(execFile);

/** Rows by pid and tid, without the age. */
function rowsOf(table: string): Map<string, string> {
  const rows = table.split('\n').slice(1, -1);
  return new Map(
    rows.map(row => {
      const [, ids = '', kept = '', args = ''] = /^(\s*\d+\s+\d+)(\s.{45})\s+[\d:-]+ (.*)$/.exec(row) ?? [];
      return [ids, kept === '' ? row : `${ids}${kept.trimEnd()}|${args}`];
    }),
  );
}

/** Without STAT and WCHAN; workers of the kernel are named after their work, so they lose that too. */
const withoutState = (row = '') =>
  row.replace(/^(\s*\d+\s+\d+\s+\d+) .*?\|/, '$1|').replace(/(\[kworker\/[^-+\]]+).*$/, '$1');

/** Of what others run only what is shown alike of any length and in any encoding. */
const withPlainArgs = (row = '') =>
  withoutState(row)
    .replace(/[^ -~].*$/, '')
    .slice(0, 400);

describe.skipIf(labUnavailable())('the sweep', () => {
  const children: ChildProcess[] = [];
  let folder: LabFolder;
  let host: LinuxHost;
  const start = (argv0: string, file: string, args: readonly string[], options: { detached?: boolean } = {}) => {
    const child = spawn(file, args, { argv0, stdio: ['ignore', 'pipe', 'ignore'], ...options });
    children.push(child);
    return child;
  };

  beforeAll(async () => {
    folder = await openFolder();
    host = createHost();
    const program = join(folder.path, 'odd-threads');
    await run('cc', ['-O1', '-pthread', '-o', program, join(import.meta.dirname, 'fixtures/odd-threads.c')]);
    const zombieLeader = start('odd', program, []);
    start('odd-locked', program, ['lock']);
    start('we ird\tname \x1b[31mred', 'sleep', ['1000'], { detached: true });
    start('übung 日本 \u202e', 'sleep', ['1000']);
    start('nice', 'nice', ['-n', '7', 'sleep', '1000']);
    start('urgent', 'nice', ['-n', '-7', 'sleep', '1000'], { detached: true });
    start('', 'sleep', ['1000']);
    start('sh', 'sh', ['-c', 'sleep 0.01 & exec sleep 1000']);
    start('sh', 'sh', ['-c', 'cd /\n\nsleep 1000 # | \\ "%s"\n:\n']);
    start('sh', 'sh', ['-c', `exec perl -e 'sleep 1000' "" "two  words" "$(printf '\\377\\200x')" ""`]);
    start('e\u0301 \u00a0|\u00ad|\u2028|\uffff|\u{e0001}|\u{1f600}', 'sleep', ['1000']);
    for (const title of ['title set by itself', 'of\ntwo lines\n', '  '])
      start('perl', 'perl', ['-e', '$0 = $ARGV[0]; sleep 1000', title]);
    start('long', 'perl', ['-e', 'sleep 1000', 'x'.repeat(16_000)]);
    await until('the first thread to end', 5000, () => status(zombieLeader.pid ?? 0)?.state === 'Z');
    await new Promise(resolve => setTimeout(resolve, 500));
  });
  afterAll(async () => {
    for (const child of children) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    await host.close();
    await folder[Symbol.asyncDispose]();
  });

  it('prints the rows of ps', async () => {
    const ps = async () =>
      (await exec('ps', ['-eLo', 'pid,tid,ppid,stat,wchan:32,etime,args'], { maxBuffer: 64 << 20, timeout: 20_000 }))
        .stdout;
    const before = await ps();
    const swept = (await host.sweep({ tree: [] }, { deadlineMs: 10_000 })).processes.toString();
    const after = rowsOf(await ps());
    expect(swept.split('\n')[0]).toBe(before.split('\n')[0]);

    // What ps shows alike before and after has to be in between too; what ran or ended meanwhile may differ.
    const rows = rowsOf(swept);
    const still = [...rowsOf(before)].filter(([ids, row]) => after.get(ids) === row);
    expect(still.length).toBeGreaterThan(60);
    const isOurs = (ids: string) => children.some(({ pid }) => ids.trim().startsWith(`${pid} `));
    const ours = still.filter(([ids]) => isOurs(ids));
    expect(ours.length).toBeGreaterThanOrEqual(children.length + 2);
    expect(ours.map(([ids, row]) => [row, rows.get(ids)]).filter(([theirs, own]) => theirs !== own)).toEqual([]);
    // Others may wait here before and after and there in between.
    const differing = still.map(([ids, row]) => [withPlainArgs(row), withPlainArgs(rows.get(ids))]);
    expect(differing.filter(([theirs, own]) => theirs !== own)).toEqual([]);
  });

  it('shows a long command line once, not below every thread', async () => {
    const threads =
      'import threading as t; [t.Thread(target=t.Event().wait).start() for _ in range(200)]; print(1, flush=True)';
    const child = start('python3', 'python3', ['-c', threads, ...Array(10).fill('x'.repeat(100_000))]);
    if (child.stdout !== null) await once(child.stdout, 'data');
    const { processes } = await host.sweep({ tree: [] }, { deadlineMs: 10_000 });
    const rows = processes.toString().match(new RegExp(`^ *${child.pid} .*$`, 'gm')) ?? [];
    expect(rows).toHaveLength(201);
    expect(rows[0]).toMatch(/python3 -c import .* x{10000,} \[\.\.\. 98\d{4} more characters\]$/);
    expect(rows.join('').length).toBeLessThan(200_000);
  });

  it('ages the rows as ps does', async () => {
    const { stdout } = await exec('ps', ['-o', 'etimes=', '-p', '2'], { timeout: 20_000 });
    const swept = (await host.sweep({ tree: [] }, { deadlineMs: 10_000 })).processes.toString();
    const elapsed = /^ *2 +2 +0 \S+ +\S+ +([\d:-]+) \[kthreadd\]$/m.exec(swept)?.[1] ?? '';
    const [seconds = 0, minutes = 0, hours = 0, days = 0] = elapsed.split(/[:-]/).map(Number).reverse();
    const age = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    expect(Math.abs(age - Number(stdout))).toBeLessThanOrEqual(10);
  });

  it('has the stacks of all threads of the tree, under names that cannot forge a block', async () => {
    const [odd] = children;
    const { blocked, outcome } = await host.sweep({ tree: [odd?.pid ?? 0] }, { deadlineMs: 10_000 });
    expect(outcome).toBe('ok');
    const headings = blocked.toString().match(/^=====.*$/gm) ?? [];
    expect(headings.filter(heading => heading.includes(` a)\\x20S\\x201\\x20(b\\n`))).toHaveLength(1);
    expect(blocked.toString()).toMatch(/^34 0x.*\n\[<0>\] .*pause/m);
    const dumped = parseThreadDump(blocked.toString());
    expect(dumped.threads.filter(({ pid }) => pid === odd?.pid).length).toBeGreaterThan(0);
    expect(dumped.threads.filter(({ pid }) => pid === null)).toEqual([]);
  });

  it('has the twenty thousand threads that ps has', () =>
    during(manyThreads({ processes: 200, threadsEach: 100 }), async ({ pid, total }) => {
      const family = withDescendants([pid]);
      const ofFamily = (table: string) =>
        [...rowsOf(table)].filter(([ids]) => family.has(Number(ids.trim().split(/\s+/)[0])));
      const sweep = () => host.sweep({ tree: [] }, { deadlineMs: 60_000 });
      const asleep = /do_sys_pause|sys_pause/;
      await until('all of them to sleep', 90_000, async () =>
        ofFamily((await sweep()).processes.toString()).every(([, row]) => asleep.test(row)),
      );
      const columns = ['-eLo', 'pid,tid,ppid,stat,wchan:32,etime,args'];
      const { stdout } = await exec('ps', columns, { maxBuffer: 64 << 20, timeout: 60_000 });
      const { processes, threadCount, outcome } = await sweep();
      expect(outcome).toBe('ok');
      const rows = ofFamily(processes.toString());
      expect(rows).toHaveLength(total);
      // Threads that were started after the numbers began anew are in another order there.
      const shown = new Map(ofFamily(stdout));
      expect(shown.size).toBe(total);
      const differing = rows.map(([ids, row]) => [row, shown.get(ids)]).filter(([ours, theirs]) => ours !== theirs);
      expect(differing.filter(([ours, theirs]) => withoutState(ours) !== withoutState(theirs))).toEqual([]);
      // Of so many some may be awake for a moment.
      expect(differing.length).toBeLessThan(20);
      expect(threadCount).toBeGreaterThan(total);
    }));
});
