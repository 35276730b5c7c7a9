import { describe, expect, it } from 'vitest';
import { run } from './run.ts';

describe('a wrong command line ends with 2, and says what was wrong and what helps', () => {
  it.each([
    ['an unknown command', ['ehco'], "stallcap has no command 'ehco'. Did you mean echo?"],
    ['an unknown command like no other', ['frobnicate'], "stallcap has no command 'frobnicate'.\n"],
    ['a name of Object.prototype', ['constructor'], "stallcap has no command 'constructor'.\n"],
    ['an unknown flag', ['echo', '--timeot', '3s'], 'Unknown flag: --timeot. Did you mean --timeout?'],
    ['an unknown flag with a value', ['echo', '--timeot=3s'], 'Unknown flag: --timeot. Did you mean --timeout?'],
    ['unknown flags like no other', ['echo', '--abcdefg', '-z'], 'Unknown flags: --abcdefg, -z.\n'],
    ['a bad duration', ['echo', '--timeout', 'soon'], "--timeout: 'soon' is not a duration like 500ms, 30s, 5m or 2h."],
    ['a bad size', ['echo', '--max-size', '3 apples'], "--max-size: '3 apples' is not a size like"],
    ['a number out of bounds', ['echo', '--samples', '0'], "--samples: '0' is not a whole number from 1 to 100."],
    ['a number that is none', ['echo', '--samples', '3x'], "--samples: '3x' is not a whole number"],
    ['an option that is none', ['echo', '--format', 'pdf'], 'Expected --format=pdf to be one of: text, html.'],
    ['a flag without its value', ['echo', '--timeout'], 'Flag --timeout expects a value.'],
    ['flags that exclude each other', ['echo', '--format', 'text', '--skip', 'a'], '--skip=a cannot also be provided'],
    ['one argument too many', ['echo', 'a', 'b'], 'Unexpected argument: b.'],
    ['a missing argument', ['big'], 'Missing 1 required arg: bytes.'],
    ['an argument of the wrong kind', ['big', 'x'], 'Expected an integer but received: x.'],
  ])('%s', (_what, args, says) => {
    const { status, stdout, stderr } = run(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(`Error: ${says}`);
    expect(stderr).toMatch(/^ {2}→ .*--help$/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('says the same as one JSON document with --json', () => {
    const { status, stdout, stderr } = run(['echo', '--json', '--timeot']);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'unknown-flag',
        exit: 2,
        message: 'Unknown flag: --timeot. Did you mean --timeout?',
        next: ['See how it is used: stallcap echo --help'],
      },
    });
    expect(stderr).toContain('Unknown flag');
  });
});

describe('the code of a wrong command line', () => {
  it.each([
    ['unknown-command', ['ehco']],
    ['unknown-flag', ['echo', '--nope']],
    ['bad-value', ['echo', '--timeout', 'soon']],
    ['bad-value', ['echo', '--format', 'pdf']],
    ['bad-value', ['big', 'x']],
    ['usage', ['echo', 'a', 'b']],
  ])('is %s for %j', (code, args) => {
    expect(JSON.parse(run([...args, '--json']).stdout).error).toMatchObject({ code, exit: 2 });
  });
});

describe('a failure that a command knows of', () => {
  it.each([2, 3, 4, 5])('ends with its exit code %i, its table and its next step', exit => {
    const { status, stdout, stderr } = run(['fail', String(exit)]);
    expect({ status, stdout }).toEqual({ status: exit, stdout: '' });
    expect(stderr).toBe('Error: Two sandboxes start with 4f.\n\nPOD   SANDBOX\nweb   4f2a\n\n  → Say more of it.\n');
  });

  it('has its code and table in the JSON', () => {
    const { error } = JSON.parse(run(['fail', '4', '--json']).stdout);
    expect(error).toMatchObject({ code: 'ambiguous', exit: 4, table: 'POD   SANDBOX\nweb   4f2a\n' });
  });

  it('is known when its class is of another bundle', () => {
    const { status, stderr } = run(['throw', 'foreign']);
    expect({ status, stderr }).toEqual({ status: 5, stderr: 'Error: from the other bundle\n' });
  });
});

describe('what nobody expected ends with 1', () => {
  it('says that it is a fault of stallcap and how to report it, without a stack', () => {
    const { status, stdout, stderr } = run(['throw', 'type-error']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Error: stallcap itself failed: cannot read properties of undefined');
    expect(stderr).toContain('--debug');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each([
    ['--debug', ['--debug'], {}],
    ['DEBUG', [], { DEBUG: '1' }],
  ])('shows the stack with %s', (_how, flags, env) => {
    expect(run(['throw', 'type-error', ...flags], { env }).stderr).toMatch(/^\s+at Throw\.run .*program\.ts/m);
  });

  it.each(['stray', 'emitter'])('lets the run end first when nothing of the run carries it (%s)', how => {
    const { status, stdout, stderr } = run(['throw', how]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: 'done all the same\n' });
    expect(stderr).toMatch(/stallcap itself failed: nobody (awaits this|listens)/);
  });

  it('is not fooled by a throw of nothing', () => {
    expect(run(['throw', 'nothing'])).toMatchObject({ status: 1, stderr: expect.stringContaining('itself failed') });
  });

  it('says so when the run waits for what can no longer happen, where node ends with 0', () => {
    const { status, stdout, stderr } = run(['throw', 'never']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('it ended before it had an answer');
  });
});
