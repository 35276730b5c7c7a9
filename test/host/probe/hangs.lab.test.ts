import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createHost, type LinuxHost } from '../../../src/host/linux.ts';
import { bindfs, stopFuse } from '../../lab/bindfs.ts';
import { during } from '../../lab/during.ts';
import { alive, status, threads, withDescendants } from '../../lab/proc.ts';
import { labUnavailable } from '../../lab/requirements.ts';
import { bounded, run } from '../../lab/run.ts';
import { fuseStopped } from '../../lab/stalls/fuse-stopped.ts';
import { mmapLockHeld } from '../../lab/stalls/mmap-lock-held.ts';
import { stalled } from '../../lab/stalls/stall.ts';
import { until } from '../../lab/wait.ts';

/** A host that is closed whatever `use` finds. */
async function withHost(use: (host: LinuxHost) => Promise<void>): Promise<void> {
  const host = createHost();
  try {
    await use(host);
  } finally {
    await host.close();
  }
}

describe.skipIf(labUnavailable())('a probe on a filesystem that stalls', () => {
  it('is left behind, and all that can be read is read', () =>
    during(fuseStopped({ one: '1', two: '2' }), ({ fuse }) =>
      withHost(async host => {
        const [plain, version] = [import.meta.filename, '/proc/version'];
        const files = [plain, join(fuse.point, 'one'), version, join(fuse.point, 'two'), plain].map(path => ({ path }));
        const began = performance.now();
        const results = await host.readRisky(files, { deadlineMs: 20_000, itemMs: 400 });
        expect(results.map(({ outcome }) => outcome)).toEqual(['ok', 'timeout', 'ok', 'timeout', 'ok']);
        expect(performance.now() - began).toBeLessThan(15_000);

        expect(host.stuckProbes.map(({ request, item }) => [request, item])).toEqual([
          ['files', join(fuse.point, 'one')],
          ['files', join(fuse.point, 'two')],
        ]);
        const [stuck] = host.stuckProbes;
        expect(stuck?.wchan).toBe('request_wait_answer');
        expect(stuck?.stack).toContain('fuse');
        expect(stuck?.syscall).toMatch(/^\d+ 0x/);
        expect(stuck?.waitedMs).toBeGreaterThanOrEqual(400);

        host.bePatient(3);
        await host.readRisky([{ path: join(fuse.point, 'one') }], { deadlineMs: 20_000, itemMs: 400 });
        expect(host.stuckProbes[2]?.waitedMs).toBeGreaterThanOrEqual(1200);
      }),
    ));

  it('is not tried for ever', () =>
    during(fuseStopped(), ({ fuse }) =>
      withHost(async host => {
        const files = Array.from({ length: 30 }, (_, index) => ({ path: join(fuse.point, `file-${index}`) }));
        const results = await host.readRisky([...files, { path: '/proc/version' }], {
          deadlineMs: 20_000,
          itemMs: 200,
        });
        expect(results.filter(({ outcome }) => outcome === 'timeout')).toHaveLength(30);
        expect(results.at(-1)?.outcome).toBe('ok');
        expect(
          results.filter(({ detail }) => detail === 'not tried: 4 probes already hang in this kind of read'),
        ).toHaveLength(26);
        expect(host.stuckProbes).toHaveLength(4);
      }),
    ));

  it('keeps to the deadline of the whole request, and says what was not reached', () =>
    during(fuseStopped(), ({ fuse }) =>
      withHost(async host => {
        const began = performance.now();
        const files = [{ path: '/proc/version' }, { path: join(fuse.point, 'asked') }, { path: '/proc/uptime' }];
        const results = await host.readRisky(files, { deadlineMs: 4000, itemMs: 60_000 });
        expect(performance.now() - began).toBeLessThan(5000);
        expect(results.map(({ outcome }) => outcome)).toEqual(['ok', 'timeout', 'timeout']);
        expect(results[2]?.detail).toBe('not reached: the deadline of 4000 ms passed');
        expect(host.stuckProbes).toHaveLength(1);
      }),
    ));

  it('starts no program there that could hold this process: exec hangs in the probe alone', () =>
    during(fuseStopped(), ({ fuse }) =>
      withHost(async host => {
        copyFileSync('/bin/true', join(fuse.backing, 'tool'));
        chmodSync(join(fuse.backing, 'tool'), 0o755);
        let longest = 0;
        let last = performance.now();
        const ticks = setInterval(() => {
          longest = Math.max(longest, performance.now() - last);
          last = performance.now();
        }, 5);
        const result = await host.run({ argv: [join(fuse.point, 'tool')], timeoutMs: 3000 });
        clearInterval(ticks);
        expect(result).toMatchObject({ outcome: 'timeout', exitCode: null });
        expect(longest).toBeLessThan(1500);
        expect(host.stuckProbes[0]).toMatchObject({ request: 'run', item: join(fuse.point, 'tool') });
      }),
    ));

  it('reads a file to its end that is slow but moves', () =>
    during(
      stalled(async folder => ({ fuse: await bindfs(folder, 'slow', ['-odirect_io', '--read-rate=128k']) })),
      ({ fuse }) =>
        withHost(async host => {
          writeFileSync(join(fuse.backing, 'log'), Buffer.alloc(512 << 10, 'x'));
          const [log] = await host.readRisky([{ path: join(fuse.point, 'log') }], { deadlineMs: 40_000, itemMs: 2000 });
          expect(log).toMatchObject({ outcome: 'ok' });
          expect(log?.body.length).toBe(512 << 10);
          expect(log?.durationMs).toBeGreaterThan(2000);
        }),
    ));

  it('does not keep a run from its end, even when it cannot be killed', () =>
    during(
      // The daemon takes a request at once and sleeps before it answers: stopped in between, not even SIGKILL helps.
      stalled(async (folder, undo) => ({
        fuse: await bindfs(folder, 'fuse', ['-odirect_io', '--read-rate=64k']),
        undo: undo.use(new AsyncDisposableStack()),
      })),
      async ({ fuse, folder, undo }) => {
        writeFileSync(join(fuse.backing, 'log'), Buffer.alloc(1 << 20));
        const script = join(import.meta.dirname, '../fixtures/exit-with-hung-probes.ts');
        const began = performance.now();
        const child = spawn(process.execPath, [script, join(fuse.point, 'log')], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(child, 'exit');
        folder.process(child.pid ?? 0, 'node');
        let said = '';
        child.stdout.on('data', chunk => {
          said += chunk;
        });
        const probe = await until('a probe to wait for bytes', 20_000, () =>
          [...withDescendants([child.pid ?? 0])].find(pid =>
            threads(pid)[0]
              ?.stack.join()
              .match(/request_wait_answer.*fuse_direct_/),
          ),
        );
        await sleep(100);
        await stopFuse(fuse, undo);
        const [code] = await ended;
        expect(code).toBe(0);
        expect(performance.now() - began).toBeLessThan(20_000);
        expect(said).toBe(`timeout ${probe} left behind\n`);
        expect(status(probe)?.state).toBe('D');
        await undo.disposeAsync();
        await until('the probe to end', 10_000, () => !alive(probe));
      },
    ));
});

describe.skipIf(labUnavailable())('the sweep of a node where ps hangs', () => {
  it('has every thread of a process whose mmap_lock is held, with its name in brackets', () =>
    during(mmapLockHeld(), ({ pids: [pid = 0] }) =>
      withHost(async host => {
        const result = await host.sweep({ tree: [] }, { deadlineMs: 15_000, itemMs: 500 });
        expect(result.hung).toContainEqual({ pid, file: expect.stringContaining('cmdline') });
        const rows = result.processes
          .toString()
          .split('\n')
          .filter(row => row.trim().startsWith(`${pid} `));
        expect(rows).toHaveLength(status(pid)?.threads ?? 0);
        expect(rows.every(row => row.endsWith('[mmap-hostage]'))).toBe(true);
        expect(rows.some(row => / D[lsL+]* /.test(row))).toBe(true);
        expect(result.blocked.toString()).toMatch(/^===== \d+ mmap-hostage D vm_mmap_pgoff .*=====\n9 0x.*\n\[<0>\]/m);
        expect(result.blockedCount).toBeGreaterThan(0);
        const stuck = expect.objectContaining({ request: 'sweep', item: `/proc/${pid}` });
        expect(host.stuckProbes).toContainEqual(stuck);
      }),
    ));

  it('does not hang fifty times for fifty of them', () =>
    during(mmapLockHeld({ copies: 50 }), ({ pids }) =>
      withHost(async host => {
        const began = performance.now();
        const result = await host.sweep({ tree: [] }, { deadlineMs: 20_000, itemMs: 300 });
        expect(performance.now() - began).toBeLessThan(18_000);
        const table = result.processes.toString();
        for (const pid of pids) expect(table).toMatch(new RegExp(`^ *${pid} .*\\[mmap-hostage\\]$`, 'm'));
        expect(host.stuckProbes.length).toBeLessThan(20);
        // Those that do not look alike are read as ever.
        expect(table).toMatch(new RegExp(`^ *${process.pid} .*node.*$`, 'm'));
      }),
    ));
});

/** Processes that hang in execve with the lock taken that all files but comm and status wait for. */
function execHeld(copies: number) {
  return stalled(async (folder, undo) => {
    const program = join(folder.path, 'exec-held');
    await run('cc', ['-O1', '-o', program, join(import.meta.dirname, '../fixtures/exec-held.c')]);
    const fuse = await bindfs(folder, 'fuse');
    writeFileSync(join(fuse.backing, 'open'), 'x');
    const children = Array.from({ length: copies }, () => {
      const child = spawn(program, [join(fuse.point, 'open')], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
      folder.process(child.pid ?? 0, 'exec-held');
      return child;
    });
    for (const child of children) await once(child.stdout, 'data');
    await stopFuse(fuse, undo);
    for (const child of children) child.stdin.end();
    const pids = children.map(({ pid }) => pid ?? 0);
    await until('stat to hang', 10_000, async () => {
      for (const pid of pids) if (await bounded('cat', [`/proc/${pid}/stat`], 150)) return false;
      return true;
    });
    return { pids };
  });
}

describe.skipIf(labUnavailable())('a process held inside execve', () => {
  it('hangs no reader of this process, and is known by its status', () =>
    during(execHeld(1), ({ pids: [pid = 0] }) =>
      withHost(async host => {
        expect(host.look(pid)).toMatchObject({ outcome: 'error', comm: 'exec-held', threads: [] });
        expect(host.read(`/proc/${pid}/stat`)).toMatchObject({ outcome: 'error' });
        expect(host.read(`/proc/${pid}/status`)).toMatchObject({ outcome: 'ok' });
        const [held, own] = await host.lookRisky([pid, process.pid], { deadlineMs: 20_000, itemMs: 400 });
        expect(held).toMatchObject({ outcome: 'timeout', comm: 'exec-held', threads: [] });
        expect(held?.detail).toMatch(new RegExp(`^no answer for \\d+ ms in /proc/${pid}/`));
        expect(held?.status).toContain(`Pid:\t${pid}`);
        expect(own).toMatchObject({ outcome: 'ok' });

        const { processes, hung, outcome } = await host.sweep({ tree: [pid] }, { deadlineMs: 20_000, itemMs: 400 });
        expect(outcome).toBe('truncated');
        expect(hung).toContainEqual({ pid, file: `task/${pid}/stat` });
        const row = new RegExp(`^ *${pid} +${pid} +${process.pid} S +\\? +\\? \\[exec-held\\]$`, 'm');
        expect(processes.toString()).toMatch(row);
      }),
    ));

  it('is not waited for twenty times when there are twenty', () =>
    during(execHeld(20), ({ pids }) =>
      withHost(async host => {
        const { processes, hung } = await host.sweep({ tree: [] }, { deadlineMs: 60_000, itemMs: 300 });
        for (const pid of pids) expect(processes.toString()).toMatch(new RegExp(`^ *${pid} .*\\[exec-held\\]$`, 'm'));
        expect(hung.filter(({ pid }) => pids.includes(pid)).length).toBeLessThanOrEqual(8);
        expect(host.stuckProbes.length).toBeLessThan(20);
        // Those with more threads are read as ever.
        expect(processes.toString()).toMatch(new RegExp(`^ *${process.pid} .* \\S+:\\d\\d .*node.*$`, 'm'));
      }),
    ));
});
