import { execFileSync, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileRequest } from '../../../src/host/port.ts';
import { readFile } from '../../../src/host/probe/files.ts';
import { until } from '../../lab/wait.ts';

let folder = '';
const at = (name: string) => join(folder, name);
const read = (request: FileRequest) => {
  const { reading, body } = readFile(request, () => {});
  return { ...reading, text: body.toString() };
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stallcap-files-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a probe reading a file', () => {
  it('reads all of it, and says when there was nothing', () => {
    writeFileSync(at('plain'), 'one\ntwo\n');
    writeFileSync(at('nothing'), '');
    expect(read({ path: at('plain') })).toMatchObject({ outcome: 'ok', text: 'one\ntwo\n', bytes: 8 });
    expect(read({ path: at('nothing') })).toMatchObject({ outcome: 'empty', text: '' });
    expect(read({ path: at('missing') })).toMatchObject({ outcome: 'gone', detail: 'ENOENT' });
  });

  it('reads files of /proc that have no size and come in pieces', () => {
    const whole = readFileSync('/proc/self/mountinfo', 'utf8');
    expect(read({ path: '/proc/self/mountinfo' }).text).toBe(whole);
  });

  it('brings one variable of an environment, and nothing of the others', () => {
    const child = spawn('sleep', ['600'], {
      env: { PATH: process.env['PATH'], TMPDIR: '/srv/tmp', TOKEN: 's3cret', EMPTY: '' },
    });
    try {
      const variable = (name: string) => read({ path: `/proc/${child.pid}/environ`, variable: name });
      expect(variable('TMPDIR')).toMatchObject({ outcome: 'ok', text: '/srv/tmp', bytes: 8 });
      expect(variable('EMPTY')).toMatchObject({ outcome: 'empty', text: '' });
      expect(variable('TMP')).toMatchObject({ outcome: 'absent', text: '' });
      expect(read({ path: '/proc/self/no-such', variable: 'TMPDIR' })).toMatchObject({ outcome: 'gone' });
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('leaves no access time on the file', () => {
    writeFileSync(at('untouched'), 'one');
    const before = new Date('2001-02-03T04:05:06Z');
    utimesSync(at('untouched'), before, new Date());
    expect(read({ path: at('untouched') }).text).toBe('one');
    expect(statSync(at('untouched')).atime).toEqual(before);
  });

  it('keeps the head or the tail, and says what was cut', () => {
    writeFileSync(at('digits'), '0123456789');
    expect(read({ path: at('digits'), maxBytes: 4 })).toMatchObject({
      outcome: 'truncated',
      text: '0123',
      detail: 'first 4 bytes',
    });
    expect(read({ path: at('digits'), maxBytes: 4, keep: 'tail' })).toMatchObject({
      outcome: 'truncated',
      text: '6789',
      detail: 'last 4 of 10 bytes',
    });
    expect(read({ path: at('digits'), maxBytes: 10, keep: 'tail' })).toMatchObject({
      outcome: 'ok',
      text: '0123456789',
    });
    const tail = read({ path: '/proc/self/status', maxBytes: 40, keep: 'tail' });
    expect(tail).toMatchObject({ outcome: 'truncated', bytes: 40 });
    expect(tail.text).toContain('nonvoluntary_ctxt');
  });

  it('keeps the tail of a file of many megabytes without holding it', () => {
    writeFileSync(at('large'), Buffer.alloc(8 << 20, 'x'));
    writeFileSync(at('large'), 'the end', { flag: 'a' });
    expect(read({ path: at('large'), maxBytes: 7, keep: 'tail' }).text).toBe('the end');
  });

  it('tells times in nanoseconds and the device as mountinfo does', () => {
    writeFileSync(at('stat'), 'abc');
    const { stat } = read({ path: at('stat'), withStat: true });
    const expected = statSync(at('stat'), { bigint: true });
    expect(stat).toMatchObject({
      type: 'file',
      size: 3,
      inode: String(expected.ino),
      mtimeNs: String(expected.mtimeNs),
    });
    // makedev(3) of glibc: 8 low bits and from bit 20 the minor, 12 bits between them the major.
    const device = Number(expected.dev);
    expect(stat?.device).toBe(`${(device >> 8) & 0xfff}:${(device & 0xff) | ((device >>> 12) & 0xfff00)}`);
    expect(read({ path: at('stat'), what: 'stat' })).toMatchObject({ outcome: 'ok', text: '', stat: { size: 3 } });
  });

  it('follows a link in the last component only when asked, and a magic link never', () => {
    writeFileSync(at('target'), 'seen');
    symlinkSync('target', at('link'));
    expect(read({ path: at('link') })).toMatchObject({ outcome: 'error', detail: 'is a link: not read', text: '' });
    expect(read({ path: at('link'), follow: true })).toMatchObject({ outcome: 'ok', text: 'seen' });
    expect(read({ path: at('link'), what: 'link' })).toMatchObject({ outcome: 'ok', text: 'target' });
    expect(read({ path: at('link'), what: 'stat' }).stat?.type).toBe('link');
    expect(read({ path: '/proc/self/exe', follow: true })).toMatchObject({ outcome: 'error', text: '' });
    expect(read({ path: '/proc/self/exe', what: 'link' }).text).toBe(process.execPath);
  });

  it('lists a directory, and does not list through a link', () => {
    mkdirSync(at('dir'));
    mkdirSync(at('dir/sub'));
    writeFileSync(at('dir/file'), '');
    symlinkSync('dir', at('dirlink'));
    expect(read({ path: at('dir'), what: 'dir' }).text).toBe('file\nsub/\n');
    expect(read({ path: at('dirlink'), what: 'dir' })).toMatchObject({ outcome: 'error', text: '' });
    expect(read({ path: at('dirlink'), what: 'dir', follow: true }).text).toBe('file\nsub/\n');
    expect(read({ path: at('dir') })).toMatchObject({ outcome: 'error', detail: 'is a dir: not read' });
    expect(read({ path: at('plain'), what: 'dir' })).toMatchObject({ outcome: 'error' });
    // No disk lies below it that could be busy.
    expect(read({ path: '/dev', what: 'dir', spareBusyDisk: true }).text).toContain('null\n');
  });

  it('tells the room of a filesystem', () => {
    const { outcome, text } = read({ path: '/dev/shm', what: 'room' });
    const [, kilobytes] = /\s(\d+)\s+\d+%/.exec(execFileSync('df', ['-Pk', '/dev/shm']).toString()) ?? [];
    expect(outcome).toBe('ok');
    // Others write there meanwhile.
    const [free, type] = text.split(' ').map(Number);
    expect(Math.abs((free ?? 0) - Number(kilobytes) * 1024)).toBeLessThan(1 << 30);
    expect(type).toBe(0x01021994);
  });

  it('does not even open a fifo: a writer that waits for a reader goes on waiting', async () => {
    execFileSync('mkfifo', [at('fifo')]);
    const writer = spawn('sh', ['-c', 'echo x > "$0"', at('fifo')], { stdio: 'ignore' });
    try {
      await until('the writer to wait in open', 5000, () => {
        return readFileSync(`/proc/${writer.pid}/wchan`, 'utf8').includes('wait_for_partner');
      });
      expect(read({ path: at('fifo'), withStat: true })).toMatchObject({ outcome: 'error', stat: { type: 'fifo' } });
      await new Promise(resolve => setTimeout(resolve, 100));
      expect(writer.exitCode).toBeNull();
    } finally {
      writer.kill('SIGKILL');
    }
  });

  it('does not open sockets and devices', async () => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(at('socket'), resolve));
    expect(read({ path: at('socket') })).toMatchObject({ outcome: 'error', detail: 'is a socket: not read' });
    await new Promise(resolve => server.close(resolve));
    expect(read({ path: '/dev/zero' })).toMatchObject({ outcome: 'error', detail: 'is a device: not read' });
  });
});
