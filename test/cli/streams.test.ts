import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENTRY, PROGRAM, run } from './run.ts';

const env = { PATH: process.env['PATH'] };
const shell = (script: string) =>
  spawnSync('bash', ['--norc', '-c', script], {
    env: { ...env, NODE: process.execPath, PROGRAM },
    encoding: 'utf8',
    timeout: 15_000,
  });

describe('stdout', () => {
  it('has the result alone; words on the way go to stderr', () => {
    expect(run(['echo', 'x', '--timeout', '2m'])).toEqual({
      status: 0,
      stdout: 'word=x timeout=120000\n',
      stderr: 'words on the way\n',
    });
  });

  it('has one JSON document with --json, which may stand before the command', () => {
    const { stdout } = run(['--json', 'echo', 'x', '--no-signal', '--skip', 'a,b']);
    expect(JSON.parse(stdout)).toMatchObject({
      args: { word: 'x' },
      flags: { timeout: 30_000, 'max-size': 128 << 20, samples: 3, skip: ['a', 'b'], signal: false },
    });
  });

  it('takes --json after -- for what it is, an argument', () => {
    expect(run(['echo', '--', '--json']).stdout).toBe('word=--json timeout=30000\n');
  });

  it('comes whole through a pipe whose reader is slow', () => {
    const { stdout } = shell('"$NODE" "$PROGRAM" big 5000000 | (sleep 0.5; wc -c)');
    expect(stdout.trim()).toBe('5000000');
  });

  it('may lose its reader without a word', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's
    const { stdout, stderr } = shell('"$NODE" "$PROGRAM" big 5000000 | head -c 1; echo " ${PIPESTATUS[0]}"');
    expect({ stdout, stderr }).toEqual({ stdout: 'x 0\n', stderr: '' });
  });

  it('is a failure when it does not take the result', () => {
    const { status, stderr } = shell('"$NODE" "$PROGRAM" big 100000 > /dev/full');
    expect(status).toBe(1);
    expect(stderr).toContain('Error: stdout did not take the result: ENOSPC.');
  });
});

describe('stderr', () => {
  it('is silent with --quiet', () => {
    expect(run(['echo', '--quiet']).stderr).toBe('');
  });

  it('may lose its reader, and the result still comes', () => {
    const { stdout } = shell(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's
      '{ "$NODE" "$PROGRAM" chatty 20000 2>&1 >&3 | head -c 1 >/dev/null; } 3>&1; echo "${PIPESTATUS[0]}"',
    );
    expect(stdout).toBe('result\n0\n');
  });

  it('reaches a slow reader to the last line before the process ends', () => {
    const { stdout } = shell('"$NODE" "$PROGRAM" chatty 5000 2>&1 >/dev/null | (sleep 0.3; tail -1)');
    expect(stdout).toMatch(/^line 4999 /);
  });
});

describe('files', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'streams-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');

  it('get words and result', () => {
    expect(shell(`cd '${folder}'; "$NODE" "$PROGRAM" echo x > out 2> err`).status).toBe(0);
    expect({ out: read('out'), err: read('err') }).toEqual({
      out: 'word=x timeout=30000\n',
      err: 'words on the way\n',
    });
  });

  it('get both in order when they are one, after what was there', () => {
    const { status } = shell(`cd '${folder}'; echo before > log; "$NODE" "$PROGRAM" echo x >> log 2>&1`);
    expect({ status, log: read('log') }).toEqual({
      status: 0,
      log: 'before\nwords on the way\nword=x timeout=30000\n',
    });
  });

  it('get failures, and the last words of a run that stops without an answer', () => {
    expect(shell(`cd '${folder}'; "$NODE" "$PROGRAM" nope 2> err`).status).toBe(2);
    expect(read('err')).toMatch(/^Error: stallcap has no command 'nope'/);
    expect(shell(`cd '${folder}'; "$NODE" "$PROGRAM" throw never 2> err`).status).toBe(1);
    expect(read('err')).toContain('it ended before it had an answer');
  });

  it('that take nothing are a failure', () => {
    // 512 kB at most: ulimit -f counts in blocks of 1024 bytes, and writes past it get EFBIG.
    const { status, stderr } = shell(
      `cd '${folder}'; ulimit -f 512; trap '' XFSZ; "$NODE" "$PROGRAM" big 5000000 > out`,
    );
    expect(status).toBe(1);
    expect(stderr).toContain('Error: stdout did not take the result: EFBIG.');
  });
});

describe('a terminal', () => {
  // Python opens the terminal and never reads from it, as one in which somebody pressed Ctrl-S.
  const stopped = `
import os, pty, subprocess, sys
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
try:
    out, _ = child.communicate(timeout=10)
    print(child.returncode, out.decode(), end='')
except subprocess.TimeoutExpired:
    child.kill()
    print('held by its terminal')
`;

  it('that is stopped holds nothing up', () => {
    const argv = ['-c', stopped, process.execPath, PROGRAM, 'chatty', '5000'];
    const { stdout, error } = spawnSync('python3', argv, { encoding: 'utf8', env });
    expect(error).toBeUndefined();
    expect(stdout).toBe('0 result\n');
  });
});

describe('stdin', () => {
  it('is never read, so that it cannot hold a command up nor lose a line', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'echo'], { stdio: ['pipe', 'pipe', 'ignore'], env });
    const stdout = await child.stdout.setEncoding('utf8').toArray();
    expect(stdout.join('')).toBe('word=undefined timeout=30000\n');
    const lines = shell('printf "a\\nb\\n" | { "$NODE" "$PROGRAM" echo 2>/dev/null; cat; }').stdout;
    expect(lines).toBe('word=undefined timeout=30000\na\nb\n');
  });

  it('may be closed', () => {
    const { status } = spawnSync(process.execPath, [PROGRAM, 'echo'], {
      stdio: [openSync('/dev/null', 'r'), 'ignore', 'ignore'],
      env,
    });
    expect(status).toBe(0);
    expect(shell('"$NODE" "$PROGRAM" echo <&- 2>/dev/null').stdout).toBe('word=undefined timeout=30000\n');
  });
});

describe('colours', () => {
  const red = '\u001b[31mError:';
  const words = (args: readonly string[], more: Record<string, string>) =>
    run(args, { script: ENTRY, env: more }).stderr;

  it('are not for pipes, unless they are wanted there', () => {
    expect(words(['nope'], {})).toMatch(/^Error: /);
    expect(words(['nope'], { FORCE_COLOR: '1' }).startsWith(red)).toBe(true);
  });

  it.each([
    ['NO_COLOR', ['nope'], { NO_COLOR: '1', FORCE_COLOR: '1' }],
    ['--no-color', ['nope', '--no-color'], { FORCE_COLOR: '1' }],
    ['--no-color before the command', ['--no-color', 'nope'], { FORCE_COLOR: '1' }],
  ])('go with %s, and node does not warn', (_how, args, more) => {
    expect(words(args, more)).toMatch(/^Error: stallcap has no command/);
  });
});
