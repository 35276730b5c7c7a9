import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type LinuxHost } from '../../../src/host/linux.ts';
import { status } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';

/** Above the largest that a kernel gives, PID_MAX_LIMIT of 2^22. */
const NO_PID = 4_194_305;

const END = '=== END goroutine stack dump ===';
const line = (time: string, frames = 1) =>
  `time="${time}" level=info msg="=== BEGIN goroutine stack dump ===\\n${'goroutine 1 [select]\\n'.repeat(frames)}\\n${END}" pid=1\n`;

let folder = '';
let host: LinuxHost;
let shim: ChildProcess;
let holder: number | null = null;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stallcap-drain-'));
  host = createHost();
  execFileSync('mkfifo', [join(folder, 'log')]);
});
afterEach(async () => {
  shim.kill('SIGKILL');
  if (holder !== null) closeSync(holder);
  holder = null;
  await host.close();
  rmSync(folder, { recursive: true });
});

/** A process whose stderr is the fifo, that runs a script of sh with lines of our choice in its environment. */
async function startShim(script: string, env: Record<string, string> = {}): Promise<number> {
  // Open to the end, as containerd has it: without any reader the shim's write would fail.
  holder = openSync(join(folder, 'log'), constants.O_RDWR);
  shim = spawn('sh', ['-c', `exec 2<&-; exec 2>"$0"; ${script}`, join(folder, 'log')], {
    stdio: 'ignore',
    env: { ...process.env, ...env },
  });
  const { pid = 0 } = shim;
  await until('its stderr to be the fifo', 5000, () => linkOf(`/proc/${pid}/fd/2`) === join(folder, 'log'));
  return pid;
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

describe('draining the log fifo of a shim', () => {
  it('has the dump that was written after it was opened, and leaves the pipe empty', async () => {
    const pid = await startShim(
      'kill -STOP $$; printf "%s\\n" "$BEFORE" >&2; printf "%s" "$OURS" >&2; exec sleep 1000',
      {
        BEFORE: 'time="x" level=info msg="before"',
        OURS: line(new Date(Date.now() + 60_000).toISOString(), 2000),
      },
    );
    await until('it to stop', 5000, () => status(pid)?.state === 'T');
    const drain = host.drain(pid);
    expect(await drain.opened).toMatchObject({ outcome: 'ok' });
    process.kill(pid, 'SIGCONT');
    const result = await drain.finish({ marker: END, deadlineMs: 10_000 });
    expect(result.outcome).toBe('ok');
    expect(result.body.toString()).toMatch(/^time="x" .*before"\ntime=.*BEGIN/);
    expect(result.body.toString().match(/goroutine 1 /g)).toHaveLength(2000);

    const rest = openSync(join(folder, 'log'), constants.O_RDONLY | constants.O_NONBLOCK);
    expect(() => readSync(rest, Buffer.alloc(10))).toThrow('EAGAIN');
    closeSync(rest);
  });

  it('does not take a dump that was queued before the signal for ours', async () => {
    const pid = await startShim('printf "%s" "$OLD" >&2; sleep 0.5; printf "%s" "$OURS" >&2; exec sleep 1000', {
      OLD: line('2020-01-01T00:00:00.5Z'),
      OURS: line('2030-01-01T00:00:00.5Z'),
    });
    const drain = host.drain(pid, 2);
    await drain.opened;
    const result = await drain.finish({ marker: END, deadlineMs: 10_000, notBefore: '2025-01-01T00:00:00.000Z' });
    expect(result.outcome).toBe('ok');
    expect(result.body.toString()).toContain('2030-01-01');
  });

  it('gives what came when the end does not come in time', async () => {
    const pid = await startShim('printf "%s" "half a dump" >&2; exec sleep 1000');
    const drain = host.drain(pid);
    await drain.opened;
    const began = performance.now();
    const result = await drain.finish({ marker: END, deadlineMs: 700 });
    expect(result).toMatchObject({ outcome: 'truncated', detail: 'the end of the dump did not come in time' });
    expect(result.body.toString()).toBe('half a dump');
    expect(performance.now() - began).toBeLessThan(3000);
  });

  it('gives an empty line to one who reads once beside us, so that the whole dump is ours', async () => {
    const ours = line(new Date(Date.now() + 60_000).toISOString(), 8000);
    const pid = await startShim('kill -STOP $$; cat "$0.dump" >&2; exec sleep 1000');
    writeFileSync(join(folder, 'log.dump'), ours);
    await until('it to stop', 5000, () => status(pid)?.state === 'T');
    const rival = spawn(
      'sh',
      ['-c', 'dd bs=32768 count=1 if="$0" of="$0.rival"; exec sleep 1000', join(folder, 'log')],
      {
        stdio: 'ignore',
      },
    );
    try {
      await until(
        'the other reader',
        5000,
        () => status(rival.pid ?? 0)?.comm === 'sh' && existsSync(join(folder, 'log.rival')),
      );
      const drain = host.drain(pid, 2, { decoy: true });
      expect(await drain.opened).toMatchObject({ outcome: 'ok', detail: expect.stringMatching(/took it, and hangs/) });
      process.kill(pid, 'SIGCONT');
      const result = await drain.finish({ marker: END, deadlineMs: 10_000 });
      expect(result).toMatchObject({ outcome: 'ok' });
      expect(result.body.toString()).toBe(ours);
      await until('the end of its read', 5000, () => readFileSync(join(folder, 'log.rival'), 'utf8') === '\n');
    } finally {
      rival.kill('SIGKILL');
    }
  });

  it('takes its empty line back where nobody reads', async () => {
    const pid = await startShim('kill -STOP $$; printf "%s" "$OURS" >&2; exec sleep 1000', {
      OURS: line(new Date(Date.now() + 60_000).toISOString()),
    });
    await until('it to stop', 5000, () => status(pid)?.state === 'T');
    const drain = host.drain(pid, 2, { decoy: true });
    expect(await drain.opened).toMatchObject({ outcome: 'ok', detail: expect.stringMatching(/did not take it$/) });
    process.kill(pid, 'SIGCONT');
    const result = await drain.finish({ marker: END, deadlineMs: 10_000 });
    expect(result.outcome).toBe('ok');
    expect(result.body.toString()).toMatch(/^time=/);
  });

  it('takes nothing from what is no fifo, and says when the process is gone', async () => {
    shim = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'ignore'] });
    const drain = host.drain(shim.pid ?? 0);
    expect(await drain.opened).toMatchObject({ outcome: 'error', detail: 'is no fifo' });
    expect(await drain.finish({ marker: END, deadlineMs: 500 })).toMatchObject({ outcome: 'error' });
    expect(await host.drain(NO_PID).opened).toMatchObject({ outcome: 'gone' });
  });
});
