import { describe, expect, it } from 'vitest';
import { readArguments } from '../../src/cli/arguments.ts';

describe('what the arguments ask for', () => {
  it.each([
    [[], { command: null, help: true, version: false }],
    [['--help'], { command: null, help: true, version: false }],
    [['-h'], { command: null, help: true, version: false }],
    [['grab', '-h'], { command: 'grab', help: true, rest: ['-h'] }],
    [['--version'], { command: null, version: true, help: false }],
    [['-V'], { command: null, version: true, help: false }],
    [['grab', '--version'], { command: 'grab', version: false }],
    [['grab', '4f2a', '--json'], { command: 'grab', rest: ['4f2a', '--json'], json: true }],
    [
      ['--json', '--quiet', 'list', '--check'],
      { command: 'list', rest: ['--json', '--quiet', '--check'], quiet: true },
    ],
    [['--debug', 'list'], { command: 'list', debug: true, json: false }],
    [
      ['grab', '--', '--json', '--help'],
      { command: 'grab', rest: ['--', '--json', '--help'], json: false, help: false },
    ],
    [['--', 'grab'], { command: null, rest: ['--', 'grab'] }],
    [['list', 'list'], { command: 'list', rest: ['list'] }],
  ])('%j', (argv, expected) => {
    expect(readArguments(argv)).toMatchObject(expected);
  });
});
