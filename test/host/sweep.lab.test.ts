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

/** What ps prints, in the locale that the sweep shows names in, whatever that of the test run is. */
const ps = async (...args: readonly string[]) => {
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  return (await exec('ps', [...args], { maxBuffer: 64 << 20, timeout: 60_000, env })).stdout;
};
const COLUMNS = ['-eLo', 'pid,tid,ppid,stat,wchan:32,etime,args'];

/** Rows by pid and tid: all columns where they stand, but for the age, of which only where it ends. */
function rowsOf(table: string): Map<string, string> {
  const rows = table.split('\n').slice(1, -1);
  return new Map(
    rows.map(row => {
      const [, ids = '', kept = '', age = '', args = ''] =
        /^( *\d+ +\d+)( +\d+ \S+ +\S+)( +[\d:-]+) (.*)$/.exec(row) ?? [];
      return [ids, ids === '' ? row : `${ids}${kept} ${(ids + kept + age).length}|${args}`];
    }),
  );
}

const pidOf = (ids: string) => Number(ids.trim().split(/\s+/)[0]);

/** Pairs that differ, each on a line of its own: a log of a whole table is cut before it comes to them. */
const differences = (pairs: readonly (readonly [theirs: string | undefined, own: string | undefined])[]) =>
  pairs.flatMap(([theirs, own]) => (theirs === own ? [] : [`ps: ${theirs}\n  we: ${own}`]));

/** Without STAT and WCHAN; workers of the kernel are named after their work, so they lose that too. */
const withoutState = (row = '') =>
  row.replace(/^(\s*\d+\s+\d+\s+\d+) .*?\|/, '$1|').replace(/(\[kworker\/[^-+\]]+).*$/, '$1');

/** Of what others run: whose child it is; and the names of the kernel's own threads. */
const ofOthers = (row = '') =>
  /^ *\d+ +\d+ +2 [^|]*\|\[[^\]]*\]$/.test(row) ? withoutState(row) : (/^ *\d+ +\d+ +\d+/.exec(row)?.[0] ?? '');

/** In its own program, and in the sleep that it is for. */
function isAsleep(pid: number): boolean {
  const seen = status(pid);
  return seen?.state === 'S' && !['node', 'nice', ''].includes(seen.comm);
}

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
    await until('the first thread to end', 20_000, () => status(zombieLeader.pid ?? 0)?.state === 'Z');
    await until('all others to sleep', 20_000, () =>
      children.every(({ pid = 0 }) => pid === zombieLeader.pid || isAsleep(pid)),
    );
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
    const before = await ps(...COLUMNS);
    const swept = (await host.sweep({ tree: [] }, { deadlineMs: 10_000 })).processes.toString();
    const after = rowsOf(await ps(...COLUMNS));
    expect(swept.split('\n')[0]).toBe(before.split('\n')[0]);

    // What ps shows alike before and after has to be in between too; what ran or ended meanwhile may differ.
    const rows = rowsOf(swept);
    const still = [...rowsOf(before)].filter(([ids, row]) => after.get(ids) === row);
    const own = new Set(children.map(({ pid }) => pid));
    const ours = still.filter(([ids]) => own.has(pidOf(ids)));
    expect(ours.length).toBeGreaterThanOrEqual(children.length + 2);
    expect(differences(ours.map(([ids, row]) => [row, rows.get(ids)]))).toEqual([]);
    // What others run is theirs: they may wait here before and after and there in between, and call themselves as they like.
    expect(still.length).toBeGreaterThan(ours.length);
    expect(differences(still.map(([ids, row]) => [ofOthers(row), ofOthers(rows.get(ids))]))).toEqual([]);
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
    const etimes = await ps('-o', 'etimes=', '-p', '1');
    const swept = (await host.sweep({ tree: [] }, { deadlineMs: 10_000 })).processes.toString();
    const elapsed = /^ *1 +1 +0 \S+ +\S+ +([\d:-]+) /m.exec(swept)?.[1] ?? '';
    const [seconds = 0, minutes = 0, hours = 0, days = 0] = elapsed.split(/[:-]/).map(Number).reverse();
    const age = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    expect(Math.abs(age - Number(etimes))).toBeLessThanOrEqual(10);
  });

  it('has the stacks of all threads of the tree, under names that cannot forge a block', async () => {
    const [odd] = children;
    const { blocked, hung } = await host.sweep({ tree: [odd?.pid ?? 0] }, { deadlineMs: 10_000 });
    expect(hung.filter(({ pid }) => pid === odd?.pid)).toEqual([]);
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
      const ofFamily = (table: string) => [...rowsOf(table)].filter(([ids]) => family.has(pidOf(ids)));
      const sweep = () => host.sweep({ tree: [] }, { deadlineMs: 60_000 });
      const asleep = /do_sys_pause|sys_pause/;
      await until('all of them to sleep', 90_000, async () =>
        ofFamily((await sweep()).processes.toString()).every(([, row]) => asleep.test(row)),
      );
      const theirs = await ps(...COLUMNS);
      const { processes, threadCount, hung } = await sweep();
      expect(hung.filter(({ pid: each }) => family.has(each))).toEqual([]);
      const rows = ofFamily(processes.toString());
      expect(rows).toHaveLength(total);
      // Threads that were started after the numbers began anew are in another order there.
      const shown = new Map(ofFamily(theirs));
      expect(shown.size).toBe(total);
      const pairs = rows.map(([ids, row]) => [shown.get(ids), row] as const);
      const standing = differences(pairs.map(([row, own]) => [withoutState(row), withoutState(own)]));
      expect(standing.slice(0, 20)).toEqual([]);
      // Of so many some may be awake for a moment.
      expect(differences(pairs).length).toBeLessThan(20);
      expect(threadCount).toBeGreaterThan(total);
    }));
});
