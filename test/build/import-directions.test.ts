import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the linter says of each file of a house that is built by the project's rules; a file that it accepts is missing. */
function lint(files: readonly string[], text: (file: string, index: number) => string): Map<string, string> {
  const house = mkdtempSync(join(tmpdir(), 'house-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(house, 'node_modules'));
    copyFileSync(join(ROOT, 'oxlint.config.ts'), join(house, 'oxlint.config.ts'));
    for (const [index, file] of files.entries()) {
      mkdirSync(dirname(join(house, file)), { recursive: true });
      writeFileSync(join(house, file), text(file, index));
    }
    const oxlint = join(ROOT, 'node_modules/oxlint/bin/oxlint');
    const ran = spawnSync(process.execPath, [oxlint, '--deny-warnings', '--format=json', '.'], {
      cwd: house,
      encoding: 'utf8',
      // A diagnostic names every folder that is closed to the file: together more than Node's default of 1 MiB.
      maxBuffer: 256 * 2 ** 20,
    });
    const { diagnostics } = JSON.parse(ran.stdout) as {
      diagnostics: { filename: string; message: string; help?: string }[];
    };
    const said = new Map<string, string>();
    for (const { filename, message, help } of diagnostics) {
      said.set(filename, `${said.get(filename) ?? ''}${message} ${help ?? ''}\n`);
    }
    return said;
  } finally {
    rmSync(house, { recursive: true });
  }
}

const value = (what: string) => `import { x } from '${what}';\nexport const y = x;\n`;
const type = (what: string) => `import type { X } from '${what}';\nexport type Y = X;\n`;

/** [file of a folder, text, what is said of it; null: nothing]. Each gets a file of its own in that folder. */
const CASES: readonly (readonly [folder: string, text: string, says: string | null])[] = [
  ...downOnly([
    ['src', './formats/a.ts'],
    ['src', './host/port.ts'],
    ['src/formats', '../bundle/a.ts'],
    ['src/formats', '../host/read.ts'],
    ['src/formats/proc', '../../collectors/a.ts'],
    ['src/host', '../bundle/a.ts'],
    ['src/host/probe', '../../sandbox/a.ts'],
    ['src/bundle', '../collectors/a.ts'],
    ['src/bundle', '../host/linux.ts'],
    ['src/bundle', '../capture/a.ts'],
    ['src/sandbox', '../collectors/a.ts'],
    ['src/sandbox', '../host/linux.ts'],
    ['src/collectors', '../capture/a.ts'],
    ['src/collectors', '../host/linux.ts'],
    ['src/collectors/signal', '../../diagnosis/a.ts'],
    ['src/diagnosis', '../host/port.ts'],
    ['src/diagnosis/rules', '../../collectors/a.ts'],
    ['src/diagnosis', '../report/a.ts'],
    ['src/report', '../host/port.ts'],
    ['src/report/charts', '../../capture/a.ts'],
    ['src/capture', '../cli/a.ts'],
    ['src/capture', '../host/linux.ts'],
    ['src/cli', '../../commands/grab.ts'],
    ['src/cli', '../../bin/main.ts'],
    ['src/cli', '../host/linux.ts'],
    ['commands', '../bin/main.ts'],
    ['commands', '../test/lab/a.ts'],
  ]),
  ['src/diagnosis', type('../host/port.ts'), 'imports point down only'],
  ['src/report', type('../host/port.ts'), 'imports point down only'],
  ['src/formats', type('../bundle/a.ts'), 'imports point down only'],
  ['src/capture', type('../cli/progress.ts'), 'imports point down only'],

  ['src/formats', value('../errors.ts'), null],
  ['src/formats', type('../host/port.ts'), null],
  ['src/host', value('../formats/a.ts'), null],
  ['src/host/probe', value('../port.ts'), null],
  ['src/collectors', type('../host/port.ts'), null],
  ['src/collectors', value('../bundle/a.ts'), null],
  ['src/diagnosis', value('../formats/a.ts'), null],
  ['src/report', value('../diagnosis/a.ts'), null],
  ['src/cli', value('../capture/a.ts'), null],
  ['commands', value('../src/capture/a.ts'), null],
  ['commands', value('../src/host/a.ts'), null],

  ...machine(['node:fs', 'fs', 'node:fs/promises', 'node:child_process', 'child_process', 'execa', 'pidusage']),
  ['src/collectors', "export const fs = process.getBuiltinModule('node:fs');\n", 'go around the rule about imports'],
  ['commands', "process.kill(1, 'SIGTERM');\n", 'Signals are sent by src/host only'],
  ['src/host', "process.kill(1, 'SIGTERM');\n", null],

  ['src/cli', 'process.exit(1);\n', 'process.exit stands in bin/ only'],
  ['src/host', 'process.exit(1);\n', 'process.exit stands in bin/ only'],
  ['commands', 'process.exit(1);\n', 'process.exit stands in bin/ only'],
  ['bin', `${value('../src/host/linux.ts')}process.exit(y);\n`, null],
];

function downOnly(imports: readonly (readonly [string, string])[]) {
  return imports.map(([folder, what]) => [folder, value(what), 'imports point down only'] as const);
}

function machine(modules: readonly string[]) {
  const without = [
    'src',
    'src/formats',
    'src/bundle',
    'src/collectors',
    'src/report',
    'src/capture',
    'src/cli',
    'commands',
  ];
  return modules.flatMap(what => [
    ...without.map(folder => [folder, value(what), 'Only src/host touches the machine'] as const),
    ['src/host/probe', value(what), null] as const,
  ]);
}

describe('the linter', () => {
  const files = CASES.map(([folder], index) => `${folder}/case-${index}.ts`);
  const said = lint(files, (_file, index) => CASES[index]?.[1] ?? '');

  it.each(CASES.map((row, index) => [row[0], row[1].split('\n')[0], row[2], files[index] ?? ''] as const))(
    'says of %s with "%s": %s',
    (_folder, _text, says, file) => {
      if (says === null) expect(said.get(file)).toBeUndefined();
      else expect(said.get(file)).toContain(says);
    },
  );

  it.each([
    [
      'values',
      (own: string, other: string) =>
        `import { ${other} } from './${other}.ts';\nexport const ${own} = () => ${other};\n`,
    ],
    [
      'types',
      (own: string, other: string) =>
        `import type { ${other} } from './${other}.ts';\nexport type ${own} = ${other}[];\n`,
    ],
  ])('refuses a cycle of %s within a folder', (_, importing) => {
    const cycle = lint(['src/bundle/a.ts', 'src/bundle/b.ts'], file =>
      file.endsWith('a.ts') ? importing('a', 'b') : importing('b', 'a'),
    );
    expect(cycle.get('src/bundle/a.ts')).toContain('cycle');
  });
});
