import { describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { EXIT } from '../../src/errors.ts';
import { ENTRY, run } from './run.ts';

const help = (...args: readonly string[]) => run(args, { script: ENTRY });

describe('the help', () => {
  const text = help('--help').stdout;

  it('lists all commands in the order of the registry', () => {
    const listed = Object.keys(commands).map(name => text.search(new RegExp(`^  ${name} {2,}\\S`, 'm')));
    expect(listed.every(at => at >= 0)).toBe(true);
    expect(listed).toEqual(listed.toSorted((a, b) => a - b));
  });

  it('says what each exit code means', () => {
    for (const code of Object.values(EXIT)) expect(text).toMatch(new RegExp(`^  ${code} {2}\\w`, 'm'));
  });

  it.each([[[]], [['-h']], [['help']], [['--help']]])('is what %j asks for, on stdout', args => {
    expect(help(...args)).toEqual({ status: 0, stdout: text, stderr: '' });
  });

  it.each([[['completion', '--help']], [['completion', '-h']], [['help', 'completion']], [['--help', 'completion']]])(
    'of one command is what %j asks for',
    args => {
      const { status, stdout } = help(...args);
      expect(status).toBe(0);
      expect(stdout).toMatch(/^Print the completion script for a shell\.\n\nUSAGE\n {2}\$ stallcap completion SHELL/);
      expect(stdout).toContain('EXAMPLES\n');
    },
  );

  it('shows defaults as a user writes them', () => {
    expect(run(['echo', '--help']).stdout).toMatch(/--timeout=<duration> +\[default: 30s\] A duration\./);
  });

  it.each(Object.keys(commands))(
    'of %s has its flags in one column, says nothing twice, and shows no empty default',
    name => {
      const { stdout } = help(name, '--help');
      const [summary = ''] = stdout.split('\n');
      expect(stdout.split(summary)).toHaveLength(2);
      expect(stdout).not.toContain('[default: ]');
      const [, flags = ''] = /^FLAGS\n((?: .*\n)*)/m.exec(stdout) ?? [];
      const columns = [...flags.matchAll(/^ {2,8}(?:-\w, )?(--)/gm)].map(([all]) => all.length);
      expect(new Set(columns).size).toBeLessThanOrEqual(1);
    },
  );

  it('of no command says which there are like it', () => {
    expect(help('help', 'completoin')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Did you mean completion?'),
    });
    expect(help('completoin', '--help')).toMatchObject({ status: 2, stdout: '' });
  });

  it('is data with --json', () => {
    const { commands: described } = JSON.parse(help('help', 'completion', '--json').stdout);
    expect(described).toHaveLength(1);
    expect(described[0].args).toEqual([
      { name: 'shell', summary: 'The shell.', required: true, options: ['bash', 'zsh', 'fish'] },
    ]);
  });
});

describe('the version', () => {
  it.each([[['--version']], [['-V']], [['version']]])('is what %j asks for', args => {
    expect(help(...args).stdout).toMatch(/^stallcap \d+\.\d+\.\d+ \(node v\d+\.\d+\.\d+, linux-\w+\)\n$/);
  });

  it('is data with --json', () => {
    expect(JSON.parse(help('--version', '--json').stdout)).toMatchObject({
      version: expect.any(String),
      node: process.version,
    });
  });
});
