import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { describeCommand } from '../../src/cli/command-description.ts';
import { loadCommands } from '../../src/cli/help.ts';

const classes = await loadCommands(commands);
const described = await Promise.all([...classes].map(([name, command]) => describeCommand(name, command)));

/**
 * Scripts and runbooks are written against these names. Adding to them is free (update the snapshot with
 * `npx vitest run test/cli/contract.test.ts -u`); taking away or renaming breaks somebody at night, and is for a new major version.
 */
describe('the contract with scripts', () => {
  it.each(described)('$name keeps its arguments and flags', async ({ name, args, flags }) => {
    const lines = [
      ...args.map(
        arg => `${arg.required ? arg.name : `[${arg.name}]`}${arg.options ? ` ${arg.options.join('|')}` : ''}`,
      ),
      ...flags.map(flag => {
        const names = [flag.char && `-${flag.char}`, `--${flag.name}`, flag.allowNo && `--no-${flag.name}`].filter(
          Boolean,
        );
        const value = flag.takesValue ? ` ${flag.options?.join('|') ?? flag.value ?? '<value>'}` : '';
        const preset = flag.default === undefined ? '' : ` (default ${flag.default})`;
        return `${names.join(', ')}${value}${flag.multiple ? ' …' : ''}${preset}`;
      }),
    ];
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`contract/${name}.txt`);
  });

  it('has no command that is gone', () => {
    const kept = readdirSync(new URL('contract', import.meta.url)).map(file => file.replace(/\.txt$/, ''));
    expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(kept));
  });
});

describe('the registry', () => {
  it('names every file of commands/, each by its own name', () => {
    const files = readdirSync(new URL('../../commands', import.meta.url)).filter(file => file !== 'index.ts');
    expect(Object.keys(commands).toSorted()).toEqual(files.map(file => file.replace(/\.ts$/, '')).toSorted());
  });
});

describe.each(described)('$name', ({ name, summary, args, flags, examples }) => {
  it('says in one sentence what it does', () => {
    expect(summary).toMatch(/^[A-Z].*\.$/);
  });

  it('says what each argument and flag is for', () => {
    for (const member of [...args, ...flags]) expect(member.summary, member.name).toMatch(/^\S.*\S$/);
  });

  it('shows examples of itself, with flags that it has', () => {
    expect(examples.length).toBeGreaterThan(0);
    const known = new Set(flags.flatMap(flag => [`--${flag.name}`, `--no-${flag.name}`, `-${flag.char}`]));
    for (const example of examples) {
      const call = new RegExp(`\\bstallcap ${name}\\b([^|>)&;]*)`).exec(example)?.[1];
      expect(call, example).toBeDefined();
      const used = call?.match(/(?<=\s)--?[a-z][\w-]*/g) ?? [];
      expect(
        used.filter(flag => !known.has(flag)),
        example,
      ).toEqual([]);
    }
  });
});
