import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { descriptorsOf } from '../../../src/collectors/signal/descriptors.ts';
import { findSink } from '../../../src/collectors/signal/find-sink.ts';
import type { Sink } from '../../../src/collectors/signal/sink.ts';
import { createHost, type LinuxHost } from '../../../src/host/linux.ts';
import { pids, status } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';

/** Where the standard error of a real process ends, followed by a real probe. */
let host: LinuxHost;
let folder: string;
let shell: ChildProcess | undefined;

beforeAll(() => {
  host = createHost();
  folder = mkdtempSync(join(tmpdir(), 'stallcap-find-sink-'));
});
afterAll(async () => {
  await host.close();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  // The shell and what it has started: a process group.
  if (shell?.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
});

/** Runs a line of sh in which `"$@"` is a `sleep` that stands for containerd, and finds that one's sink. */
async function sinkOf(line: string, root: string | null = null): Promise<Sink> {
  shell = spawn('sh', ['-c', line, join(folder, 'containerd.log'), 'sleep', '1000'], {
    ...{ cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'ignore'] },
  });
  const own = () => pids().filter(pid => pid === shell?.pid || status(pid)?.ppid === shell?.pid);
  const pid = await until('the process', 20_000, () => own().find(each => status(each)?.comm === 'sleep'));
  // What reads its output is itself by now, or stopped on the way there.
  const isThere = (each: number) => each === shell?.pid || status(each)?.comm !== 'sh' || status(each)?.state === 'T';
  await until('its readers', 20_000, () => own().every(isThere));
  const [descriptors] = await descriptorsOf(host, [pid], 5000);
  return findSink(host, { pid, root }, 2, descriptors ?? []);
}

test('a file', async () => {
  const sink = await sinkOf('exec "$@" 2>>"$0"');
  expect(sink).toMatchObject({ kind: 'file', path: join(folder, 'containerd.log'), prefix: '', hung: null });
});

test.each([
  [
    'that was deleted',
    'exec 2>gone; rm gone; exec "$@"',
    /^descriptor 2 of containerd \d+ is \/.+\/gone, which was deleted$/,
  ],
  ['that is /dev/null', 'exec "$@" 2>/dev/null', /^descriptor 2 of containerd \d+ is \/dev\/null$/],
  ['that is closed', 'exec "$@" 2>&-', /^descriptor 2 of containerd \d+ is closed$/],
  [
    'that is a pipe to one who keeps no file',
    '"$@" 2>&1 | cat >/dev/null',
    /is pipe:\[\d+\], read by cat \d+: which keeps no file that was found$/,
  ],
  [
    'behind two pipes',
    '"$@" 2>&1 | cat 2>&1 | cat >>"$0"',
    /is pipe:\[\d+\], read by cat \d+: which keeps no file that was found$/,
  ],
])('a place %s keeps nothing', async (_, line, words) => {
  expect(await sinkOf(line)).toMatchObject({ kind: 'none', words: expect.stringMatching(words), hung: null });
});

test('through a pipe it is the file of its reader: the standard output, or one that is called as containerd’s', async () => {
  const file = join(folder, 'containerd.log');
  expect(await sinkOf('"$@" 2>&1 | cat >>"$0"')).toMatchObject({ kind: 'file', path: file });
  process.kill(-(shell?.pid ?? 0), 'SIGKILL');
  // Beside other files that it writes; and one below containerd's root comes first.
  const sink = await sinkOf('"$@" 2>&1 | (exec 3>>other.txt 4>>"$0" >/dev/null; exec cat)', `${folder}`);
  expect(sink).toMatchObject({
    kind: 'file',
    path: file,
    words: expect.stringMatching(/which writes \/.+\/containerd\.log$/),
  });
});

test('whose reader is stopped lets nothing through', async () => {
  const sink = await sinkOf('"$@" 2>&1 | (kill -STOP $(exec sh -c "echo \\$PPID"); exec cat >>"$0")');
  expect(sink.hung).toMatch(/^(?:sh|cat) \d+ is in state T$/);
});
