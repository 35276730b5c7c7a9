import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listSafely, lookSafely, readSafely } from '../../src/host/safe-read.ts';
import { until } from '../lab/wait.ts';

const canRead = (path: string): boolean => {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
};

let single: ChildProcess;
let pid = 0;

beforeAll(async () => {
  single = spawn('sleep', ['1000'], { stdio: 'ignore' });
  pid = single.pid ?? 0;
  await until('sleep to be itself', 5000, () => readSafely(`/proc/${pid}/comm`).body.toString() === 'sleep\n');
});
afterAll(() => void single.kill('SIGKILL'));

describe('reading in the main process', () => {
  it('reads comm, status and children of any process', () => {
    for (const file of ['comm', 'status', `task/${pid}/comm`, `task/${pid}/status`]) {
      expect(readSafely(`/proc/${pid}/${file}`).outcome).toBe('ok');
    }
    expect(readSafely(`/proc/${process.pid}/task/${process.pid}/children`).body.toString()).toContain(String(pid));
  });

  it('leaves the other files of a process with one thread to a probe: it could be inside execve', () => {
    for (const file of ['stat', 'wchan', 'sched', 'syscall', 'stack', `task/${pid}/stack`]) {
      const { outcome, detail, body } = readSafely(`/proc/${pid}/${file}`);
      expect([file, outcome, body.length]).toEqual([file, 'error', 0]);
      expect(detail).toContain('readRisky');
    }
    expect(lookSafely(pid)).toMatchObject({ outcome: 'error', comm: 'sleep', threads: [], stat: null });
  });

  it('reads them of a process with more threads', () => {
    expect(readSafely(`/proc/${process.pid}/stat`).body.toString()).toMatch(new RegExp(`^${process.pid} \\(`));
  });

  it('never reads what waits for an address space, a mount or a disk', () => {
    const own = ['cmdline', 'environ', 'maps', 'smaps', 'cgroup', 'mountinfo', 'exe', 'root/etc/passwd', 'fd/0'];
    const paths = [
      ...own.map(file => `/proc/${process.pid}/${file}`),
      '/proc/locks',
      '/proc/self/mountinfo',
      '/etc/hostname',
    ];
    for (const path of paths) expect([path, readSafely(path).outcome]).toEqual([path, 'error']);
    expect(readSafely('/proc/1/../../etc/hostname').outcome).toBe('error');
    expect(readSafely('/proc/sys/kernel/../../self/environ').outcome).toBe('error');
  });

  it('reads the files of the whole node that take no lock', () => {
    const names = ['uptime', 'loadavg', 'meminfo', 'vmstat', 'diskstats', 'stat', 'version'];
    // With psi=0 the kernel has no pressure information.
    if (canRead('/proc/pressure/io')) names.push('pressure/io');
    for (const name of [...names, 'sys/kernel/random/boot_id']) {
      expect([name, readSafely(`/proc/${name}`).outcome]).toEqual([name, 'ok']);
    }
  });

  it('says when a process is gone, and when a cap cut the text', () => {
    // Above the largest that a kernel gives, PID_MAX_LIMIT of 2^22.
    const none = 4_194_305;
    expect(readSafely(`/proc/${none}/comm`)).toMatchObject({ outcome: 'gone', detail: 'ENOENT' });
    expect(readSafely(`/proc/${none}/stat`)).toMatchObject({ outcome: 'gone' });
    expect(lookSafely(none)).toMatchObject({ outcome: 'gone', threads: [] });
    const cut = readSafely('/proc/meminfo', 10);
    expect(cut).toMatchObject({ outcome: 'truncated', detail: 'first 10 bytes' });
    expect(cut.body.toString()).toBe('MemTotal: ');
  });

  it('lists threads as numbers in rising order', () => {
    const tids = listSafely(`/proc/${process.pid}/task`);
    expect(tids.length).toBeGreaterThan(1);
    expect(tids).toEqual([...tids].sort((a, b) => Number(a) - Number(b)));
    expect(listSafely('/etc')).toEqual([]);
  });
});

describe('a look', () => {
  it('has all threads with state, wait channel, scheduler, syscall and stack', () => {
    const look = lookSafely(process.pid);
    // Kernel stacks are for root alone.
    const isRoot = process.getuid?.() === 0;
    expect(look).toMatchObject({ outcome: isRoot ? 'ok' : 'denied', pid: process.pid, cwd: process.cwd() });
    expect(look.threads.map(({ tid }) => String(tid))).toEqual(listSafely(`/proc/${process.pid}/task`));
    // Of a thread that waits for the whole time of the look; another may have been woken in the middle of it.
    expect(look.threads).toContainEqual(
      expect.objectContaining({
        wchan: expect.stringMatching(/^\w+$/),
        syscall: expect.stringMatching(/^\d+ 0x/),
        sched: expect.stringContaining('se.exec_start'),
        ...(isRoot ? { stack: expect.stringContaining('[<0>]') } : {}),
      }),
    );
    expect(look.clock?.clockMs).toBeGreaterThan(0);
    // All CPUs of the machine count, also those that this process may not run on.
    expect(readFileSync('/proc/stat', 'utf8')).toMatch(new RegExp(`^cpu${look.clock?.cpu} `, 'm'));
  });
});
