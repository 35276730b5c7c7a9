import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evidence, logLines, MiB, makeBundle, noise } from './made/bundle.ts';
import { FOLDER } from './made/documents.ts';

/** What people and their scripts open a bundle with. */

const CONTAINER = `containers/${'48da8b6d'.repeat(8)}`;
const ENTRIES = [
  evidence('shim/threads-1.txt', '===== 24112 containerd-shim D ovl_sync_fs =====\n'),
  evidence(`${CONTAINER}/config.json`, '{"ociVersion":"1.0.2-dev"}'),
  evidence(`${CONTAINER}/${'long-'.repeat(13)}.txt`, 'a path of more than 100 characters\n'),
  evidence('node/empty', '', { outcome: 'empty' }),
  evidence('node/block', noise(512)),
  evidence('logs/containerd.log', logLines(5 * MiB)),
  evidence('logs/noise', noise(3 * MiB + 17)),
];

const NAMES = ['plan.json', ...ENTRIES.map(({ path }) => path), 'SUMMARY.md', 'manifest.json'].map(
  name => `${FOLDER}/${name}`,
);

let dir: string;
let file: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'stallcap-bundle-'));
  file = join(dir, 'bundle.tar.gz');
  writeFileSync(file, (await makeBundle(ENTRIES)).file);
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

function run(program: string, args: readonly string[], cwd: string) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function has(program: string): boolean {
  return spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined;
}

const PYTHON_LIST = `
import sys, tarfile
with tarfile.open(sys.argv[1], errorlevel=2) as bundle:
    for member in bundle:
        print(member.name)
`;
const PYTHON_EXTRACT = `
import sys, tarfile
with tarfile.open(sys.argv[1], errorlevel=2) as bundle:
    # From 3.12 on Python wants to be told what it may unpack.
    bundle.extractall('.', **({'filter': 'data'} if hasattr(tarfile, 'data_filter') else {}))
`;

describe.each([
  { name: 'GNU tar', program: 'tar', list: ['tzf'], extract: ['xzf'] },
  { name: 'busybox tar', program: 'busybox', list: ['tar', 'tzf'], extract: ['tar', 'xzf'] },
  {
    name: 'python3 tarfile',
    program: 'python3',
    list: ['-W', 'error', '-c', PYTHON_LIST],
    extract: ['-c', PYTHON_EXTRACT],
  },
])('$name', ({ program, list, extract }) => {
  it.skipIf(!has(program))('lists a bundle without a word on stderr', () => {
    const { status, stdout, stderr } = run(program, [...list, file], dir);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout.trim().split('\n')).toEqual(NAMES);
  });

  it.skipIf(!has(program))('unpacks it without a word on stderr, byte for byte', () => {
    const into = join(dir, program);
    mkdirSync(into);
    const { status, stderr } = run(program, [...extract, file], into);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    for (const { path, body } of ENTRIES) {
      expect(readFileSync(join(into, FOLDER, path)).equals(body), path).toBe(true);
    }
  });
});

describe('gzip', () => {
  it.for([['gzip', ['-t']] as const, ['busybox', ['gunzip', '-t']] as const])(
    '%s finds nothing wrong',
    ([program, args], { skip }) => {
      skip(!has(program), `${program} is not installed`);
      expect(run(program, [...args, file], dir)).toEqual({ status: 0, stdout: '', stderr: '' });
    },
  );

  it('a bundle streamed through a pipe lists without a word', () => {
    const listed = execFileSync('tar', ['tzf', '-'], { input: readFileSync(file), encoding: 'utf8' });
    expect(listed.trim().split('\n')).toEqual(NAMES);
  });
});
