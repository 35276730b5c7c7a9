import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHost, type LinuxHost } from '../../../src/host/linux.ts';
import { during } from '../../lab/during.ts';
import { alive, status } from '../../lab/proc.ts';
import { signal } from '../../lab/processes.ts';
import { labUnavailable } from '../../lab/requirements.ts';
import { fuseStopped } from '../../lab/stalls/fuse-stopped.ts';
import { mmapLockHeld } from '../../lab/stalls/mmap-lock-held.ts';
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
        const [plain, version] = ['/etc/hostname', '/proc/version'];
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

  it('does not keep a run from its end', () =>
    during(fuseStopped(), async ({ fuse, folder }) => {
      const script = join(import.meta.dirname, '../fixtures/exit-with-hung-probes.ts');
      const began = performance.now();
      const child = spawn(process.execPath, [script, join(fuse.point, 'asked')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      folder.process(child.pid ?? 0, 'node');
      let said = '';
      child.stdout.on('data', chunk => {
        said += chunk;
      });
      const code = await new Promise(resolve => child.on('exit', resolve));
      expect(code).toBe(0);
      expect(performance.now() - began).toBeLessThan(6000);
      const [outcome, pids] = said.trim().split(' ');
      expect(outcome).toBe('timeout');
      // They end as soon as the daemon goes on.
      signal(fuse.pid, 'SIGCONT');
      await until('the probes to end', 10_000, () => pids?.split(',').every(pid => !alive(Number(pid))));
    }));
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
        expect(host.stuckProbes[0]).toMatchObject({ request: 'sweep', item: `/proc/${pid}` });
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
        expect(host.stuckProbes).toHaveLength(4);
        // Those that do not look alike are read as ever.
        expect(table).toMatch(new RegExp(`^ *${process.pid} .*node.*$`, 'm'));
      }),
    ));
});

describe.skipIf(labUnavailable())('a process held inside execve', () => {
  it('is in the sweep by what its status says, and looked at in vain but on time', () =>
    during(fuseStopped(), ({ fuse, folder }) =>
      withHost(async host => {
        // A script's interpreter is opened after the point of no return of its own: the process is in exec for good.
        const script = join(folder.path, 'held');
        writeFileSync(script, `#!${join(fuse.point, 'interpreter')}\n`, { mode: 0o755 });
        // libuv waits for exec, so somebody else has to start it.
        const starter = spawn('sh', ['-c', `${script} & echo $!; wait`], { stdio: ['ignore', 'pipe', 'ignore'] });
        folder.process(starter.pid ?? 0, 'sh');
        const pid = Number(await new Promise(resolve => starter.stdout.once('data', resolve)));
        folder.process(pid, 'held');
        await until('it to be in execve', 5000, () => status(pid)?.state === 'D' || status(pid)?.state === 'S');
        expect(host.look(pid)).toMatchObject({ outcome: 'error', threads: [] });
        const [look] = await host.lookRisky([pid], { deadlineMs: 5000, itemMs: 400 });
        expect(['timeout', 'ok']).toContain(look?.outcome);
        expect(look?.status).toContain(`Pid:\t${pid}`);
        const { processes } = await host.sweep({ tree: [pid] }, { deadlineMs: 10_000, itemMs: 400 });
        expect(processes.toString()).toMatch(new RegExp(`^ *${pid} +${pid} +${starter.pid} `, 'm'));
      }),
    ));
});
