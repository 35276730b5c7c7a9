import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { PROGRAM, run } from './run.ts';

describe('progress without a terminal', () => {
  const { status, stdout, stderr } = run(['phases']);
  const lines = stderr.split('\n');

  it('is one plain line per phase on stderr, as it ends', () => {
    expect(status).toBe(0);
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^ +\d+\.\d s {2}Kernel stacks: 14 threads, 1 in D$/),
      expect.stringMatching(/^ +\d+\.\d s {2}! Asking crictl: no answer within 2 s$/),
      expect.stringMatching(/^ +\d+\.\d s {2}! Logs: cut short$/),
    ]);
    expect(stderr).not.toContain('\u001b');
  });

  it('is over before anything else is said, and leaves stdout alone', () => {
    expect(lines.slice(3)).toEqual(['after all', '']);
    expect(stdout).toBe('bytes of a bundle\nresult\n');
  });

  it('is nothing with --quiet', () => {
    expect(run(['phases', '--quiet'])).toEqual({ status: 0, stdout, stderr: '' });
  });
});

describe('progress on a terminal', () => {
  // stderr is a terminal that was told no size, stdout is a pipe.
  const terminal = `
import os, pty, subprocess, sys, threading
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
os.close(slave)
shown = bytearray()
def read():
    try:
        while chunk := os.read(master, 65536): shown.extend(chunk)
    except OSError: pass
reader = threading.Thread(target=read); reader.start()
out = child.stdout.read(); child.wait(); reader.join()
sys.stdout.buffer.write(out + b'\\0' + bytes(shown))
`;
  const show = (env: Record<string, string>) => {
    const { stdout, error } = spawnSync('python3', ['-c', terminal, process.execPath, PROGRAM, 'phases'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
      timeout: 15_000,
    });
    if (error) throw error;
    const [result = '', shown = ''] = stdout.split('\0');
    return { result, shown };
  };

  it('is live: spinners while a phase lasts, a mark when it is over', () => {
    const { shown } = show({ TERM: 'xterm' });
    expect(shown).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Kernel stacks\r/);
    expect(shown).toMatch(/✔.* Kernel stacks: 14 threads, 1 in D\r/);
    expect(shown).toMatch(/✖.* Asking crictl: no answer within 2 s\r/);
    expect(shown).toMatch(/✖.* Logs: cut short\r/);
    expect(shown.indexOf('after all')).toBeGreaterThan(shown.indexOf('Logs: cut short'));
  });

  it('leaves what goes through stdout meanwhile alone', () => {
    expect(show({ TERM: 'xterm' }).result).toBe('bytes of a bundle\nresult\n');
  });

  it('has no colours with NO_COLOR', () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
    expect(show({ TERM: 'xterm', NO_COLOR: '1' }).shown).not.toMatch(/\u001b\[[0-9;]*m/);
  });

  it('is plain on a dumb one', () => {
    const { shown } = show({ TERM: 'dumb' });
    expect(shown).toMatch(/^ +\d+\.\d s {2}Kernel stacks: 14 threads, 1 in D\r\n/);
  });
});
