import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandDescription } from '../../src/cli/command-description.ts';
import { COMPLETIONS, SHELLS, type Shell } from '../../src/cli/completion/shells.ts';
import { ENTRY, run } from './run.ts';

/** With all that a command can have, and with characters that each shell takes for something else. */
const COMMANDS: readonly CommandDescription[] = [
  {
    name: 'grab',
    summary: "Capture a pod's shim: [now], $HOME \\ `id`.",
    args: [{ name: 'target', summary: 'Who.', required: false }],
    flags: [
      { name: 'output', char: 'o', summary: 'Where to.', takesValue: true, value: '<file>' },
      { name: 'timeout', summary: "Don't run longer: [s].", takesValue: true, value: '<duration>' },
      { name: 'format', summary: 'One of two.', takesValue: true, options: ['text', 'html'] },
      { name: 'signal', summary: 'Ask the shim.', takesValue: false, allowNo: true },
    ],
    examples: [],
  },
  {
    name: 'report',
    summary: 'Judge.',
    args: [{ name: 'kind', summary: 'Of report.', required: true, options: ['short', 'long'] }],
    flags: [],
    examples: [],
  },
];

const ZSH = fileURLToPath(new URL('fixtures/zsh', import.meta.url));

let folder: string;
const script = (shell: Shell) => join(folder, `stallcap.${shell}`);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  for (const shell of SHELLS) writeFileSync(script(shell), COMPLETIONS[shell](COMMANDS));
  writeFileSync(join(folder, 'a-file'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

function shell(program: Shell, args: readonly string[], env: Record<string, string> = {}): string[] {
  const { error, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 20_000,
    env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', ...env },
  });
  if (error) throw error;
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

const present = (program: string) => spawnSync(program, ['-c', 'true']).error === undefined;

/** What is offered for the last of these words. */
const OFFERS: Readonly<Record<Shell, (words: readonly string[]) => string[]>> = {
  bash: words =>
    shell('bash', [
      '--norc',
      '-c',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's
      'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _stallcap; printf "%s\\n" "${COMPREPLY[@]}"',
      script('bash'),
      ...words,
    ]),
  fish: words =>
    shell('fish', ['--no-config', '-c', `source '${script('fish')}'; complete -C '${words.join(' ')}'`]).map(
      line => line.split('\t')[0] ?? '',
    ),
  zsh: words =>
    shell('zsh', ['-f', join(ZSH, 'capture.zsh'), words.join(' ')], { ZDOTDIR: ZSH, COMPLETION_SCRIPT: script('zsh') }),
};

describe.each(SHELLS)('completion in %s', name => {
  const offers = OFFERS[name];
  const or = (words: readonly string[]) => offers(words).toSorted();

  it('offers commands', ({ skip }) => {
    skip(!present(name), `${name} is not installed`);
    expect(or(['stallcap', 'gr'])).toEqual(['grab']);
    expect(or(['stallcap', ''])).toEqual(expect.arrayContaining(['grab', 'report']));
  });

  it('offers the flags of a command and no other', ({ skip }) => {
    skip(!present(name), `${name} is not installed`);
    expect(or(['stallcap', 'grab', '--t'])).toEqual([expect.stringMatching(/^--timeout=?$/)]);
    expect(or(['stallcap', 'grab', '--no-s'])).toEqual(['--no-signal']);
    expect(or(['stallcap', 'report', '--t'])).toEqual([]);
  });

  it('offers what an argument or a flag may be', ({ skip }) => {
    skip(!present(name), `${name} is not installed`);
    expect(or(['stallcap', 'report', ''])).toEqual(expect.arrayContaining(['long', 'short']));
    expect(or(['stallcap', 'grab', '--format', ''])).toEqual(['html', 'text']);
  });
});

describe('the command', () => {
  it.each(SHELLS)('prints a script for %s that its shell can parse', name => {
    const { status, stdout } = run(['completion', name], { script: ENTRY });
    expect(status).toBe(0);
    expect(stdout).toContain('version');
    if (!present(name)) return;
    writeFileSync(script(name), stdout);
    expect(shell(name, [name === 'fish' ? '--no-execute' : '-n', script(name)])).toEqual([]);
  });
});
