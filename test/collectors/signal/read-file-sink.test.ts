import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readFileSink } from '../../../src/collectors/signal/read-file-sink.ts';
import type { FileSink } from '../../../src/collectors/signal/sink.ts';
import { createHost, type LinuxHost } from '../../../src/host/linux.ts';

/** The log is a real file that this process has open as containerd would, and the reader is a real probe. */
describe('what was written to a log file since the signal', () => {
  let host: LinuxHost;
  let folder: string;
  let path: string;
  let fd: number;
  let sink: FileSink;

  beforeEach(async () => {
    host = createHost();
    folder = mkdtempSync(join(tmpdir(), 'stallcap-sink-'));
    path = join(folder, 'containerd.log');
    fd = openSync(path, 'a');
    writeSync(fd, 'before\n'.repeat(100_000));
    const [file] = await host.readRisky([{ path, what: 'stat' }], { deadlineMs: 5000 });
    sink = {
      kind: 'file',
      writer: { pid: process.pid, fd },
      prefix: '',
      path,
      before: file?.stat ?? null,
      words: path,
    };
  });

  afterEach(async () => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
    await host.close();
  });

  const read = () => readFileSink(host, sink, 5000);

  test('is read, and not all that was there before', async () => {
    writeSync(fd, 'after\n');
    const { text, failed } = await read();
    expect(failed).toBeNull();
    expect(text).toMatch(/before\nafter\n$/);
    expect(text.length).toBeLessThan(statSync(path).size);
  });

  test('is found when the file was renamed and the writer goes on in it', async () => {
    renameSync(path, `${path}.1`);
    closeSync(openSync(path, 'a'));
    writeSync(fd, 'after\n');
    const { text, failed, notes, source } = await read();
    expect(failed).toBeNull();
    expect(text).toMatch(/before\nafter\n$/);
    expect(notes).toEqual([`${path} is called ${path}.1 now`]);
    expect(source).toContain(`${path}.1`);
  });

  test('is joined from the old file and the new one when the writer has opened a new one', async () => {
    writeSync(fd, 'after, in the old\n');
    closeSync(fd);
    renameSync(path, join(folder, 'containerd-2026-11-29T11-42-35.log'));
    fd = openSync(path, 'a');
    sink = { ...sink, writer: { pid: process.pid, fd } };
    writeSync(fd, 'and in the new\n');
    const { text, failed, notes } = await read();
    expect(failed).toBeNull();
    expect(text).toMatch(/before\nafter, in the old\nand in the new\n$/);
    expect(notes).toEqual([`${path} was rotated to ${join(folder, 'containerd-2026-11-29T11-42-35.log')}`]);
  });

  test('is read from the start of a file that was copied and cut', async () => {
    copyFileSync(path, `${path}.1`);
    truncateSync(path, 0);
    writeSync(fd, 'after\n');
    const { text, failed, notes } = await read();
    expect(failed).toBeNull();
    expect(text).toBe('after\n');
    expect(notes).toEqual([`${path} was cut from 700000 to 6 bytes`]);
  });

  test('cannot be read when the file is gone, and that is said', async () => {
    rmSync(path);
    const { text, failed } = await read();
    expect(text).toBe('');
    expect(failed).toBe(`${path}: ENOENT`);
  });
});
