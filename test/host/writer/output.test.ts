import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Place, Sealed } from '../../../src/host/output.ts';
import { openOutput } from '../../../src/host/writer/output.ts';
import { alive, withDescendants } from '../../lab/proc.ts';
import { until } from '../../lab/wait.ts';

const SEAL_MS = 20_000;
const fixture = join(import.meta.dirname, '../fixtures/write-to-stdout.ts');

let folder = '';
const file = (dir: string, name = 'bundle.tar.gz'): Place => ({
  kind: 'file',
  dir: join(folder, dir),
  name,
  why: 'test',
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stallcap-output-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('an output', () => {
  it('is a file of its owner alone, named .partial until it is sealed', async () => {
    const output = openOutput([file('')]);
    output.write(Buffer.from('one '));
    await until(
      'the bytes to be in .partial',
      15_000,
      () => readdirSync(folder).length > 0 && sizeOf('bundle.tar.gz.partial') === 4,
    );
    expect(output.current).toBe(join(folder, 'bundle.tar.gz'));
    const large = Buffer.alloc(5 << 20, 'x');
    output.write(large);
    expect(output.bytes).toBe(4 + large.length);
    const sealed = await output.seal(SEAL_MS);
    expect(sealed).toEqual({ path: join(folder, 'bundle.tar.gz'), bytes: 4 + large.length, abandoned: [] });
    expect(readdirSync(folder)).toEqual(['bundle.tar.gz']);
    expect(statSync(join(folder, 'bundle.tar.gz')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'bundle.tar.gz'))).toEqual(Buffer.concat([Buffer.from('one '), large]));
  });

  it('makes the last component of a folder, and no more', async () => {
    const made = openOutput([file('new')]);
    made.write(Buffer.from('x'));
    expect((await made.seal(SEAL_MS)).path).toBe(join(folder, 'new/bundle.tar.gz'));
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700);
    const mistyped = openOutput([file('no/such'), file('')]);
    expect((await mistyped.seal(SEAL_MS)).abandoned).toEqual([
      { place: join(folder, 'no/such/bundle.tar.gz'), reason: 'ENOENT' },
    ]);
  });

  it('never replaces a file, and follows no planted link', async () => {
    for (const dir of ['taken', 'planted', 'linked', 'free']) mkdirSync(join(folder, dir));
    writeFileSync(join(folder, 'taken/bundle.tar.gz'), 'somebody else');
    writeFileSync(join(folder, 'victim'), 'untouched');
    symlinkSync(join(folder, 'victim'), join(folder, 'planted/bundle.tar.gz.partial'));
    symlinkSync(join(folder, 'not-yet'), join(folder, 'linked/bundle.tar.gz'));
    const output = openOutput([file('taken'), file('planted'), file('linked'), file('free')]);
    output.write(Buffer.from('bundle'));
    const sealed = await output.seal(SEAL_MS);
    expect(sealed.abandoned.map(({ reason }) => reason)).toEqual(['EEXIST', 'EEXIST', 'EEXIST']);
    expect(sealed.path).toBe(join(folder, 'free/bundle.tar.gz'));
    expect(readFileSync(join(folder, 'taken/bundle.tar.gz'), 'utf8')).toBe('somebody else');
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('untouched');
    expect(readdirSync(folder)).not.toContain('not-yet');
  });

  it('does not replace a file that takes its name while it is written', async () => {
    const output = openOutput([file('first'), file('second')]);
    output.write(Buffer.from('bundle'));
    await until(
      'it to be open',
      15_000,
      () => readdirSync(folder).includes('first') && readdirSync(join(folder, 'first')).length > 0,
    );
    writeFileSync(join(folder, 'first/bundle.tar.gz'), 'somebody else');
    const sealed = await output.seal(SEAL_MS);
    expect(sealed).toMatchObject({ path: join(folder, 'second/bundle.tar.gz'), abandoned: [{ reason: 'EEXIST' }] });
    expect(readFileSync(join(folder, 'first/bundle.tar.gz'), 'utf8')).toBe('somebody else');
    expect(readdirSync(join(folder, 'first'))).toEqual(['bundle.tar.gz']);
  });

  it('goes on elsewhere when its writer is killed', async () => {
    const before = [...withDescendants([process.pid])];
    const output = openOutput([file('a'), file('b')]);
    output.write(Buffer.from('bundle'));
    await until(
      'it to be open',
      15_000,
      () => readdirSync(folder).includes('a') && sizeOf('a/bundle.tar.gz.partial') === 6,
    );
    const [writer = 0] = [...withDescendants([process.pid])].filter(pid => !before.includes(pid) && alive(pid));
    process.kill(writer, 'SIGKILL');
    const sealed = await output.seal(SEAL_MS);
    expect(sealed).toMatchObject({
      path: join(folder, 'b/bundle.tar.gz'),
      abandoned: [{ reason: 'writer: ended by SIGKILL' }],
    });
    await until('what was begun to be gone', 15_000, () => readdirSync(join(folder, 'a')).length === 0);
  });

  it('says of each place why it did not take it, when none did', async () => {
    const output = openOutput([file('no/such'), file('nor/this')]);
    await expect(output.seal(SEAL_MS)).rejects.toMatchObject({
      code: 'no-place-for-bundle',
      message: expect.stringMatching(/no\/such.*ENOENT.*nor\/this.*ENOENT/),
    });
  });

  it('can be had of nobody when no writer can be started', async () => {
    const output = openOutput([file('')], { self: ['/no/such/program'] });
    output.write(Buffer.from('bundle'));
    await expect(output.seal(SEAL_MS)).rejects.toThrow('ENOENT');
  });
});

function sizeOf(name: string): number {
  return statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? -1;
}

/** What the fixture hands over: 16 blocks, each of one letter. */
const WHOLE = createHash('sha256')
  .update(Buffer.concat(Array.from({ length: 16 }, (_, index) => Buffer.alloc(64 << 10, 'a'.charCodeAt(0) + index))))
  .digest('hex');
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

interface Told {
  readonly sealed: Sealed;
  readonly stdout: Buffer;
  readonly ms: number;
}

/** Runs the fixture with its stdout given to `reader`, a script of sh. */
async function throughPipe(reader: string, sealMs: number, pauseMs = 0): Promise<Told> {
  const began = performance.now();
  const command = `"$0" "$1" "$2" name "$3" "$4" 2>"$2/told" | { ${reader}; }`;
  const args = ['-c', command, process.execPath, fixture, folder, String(sealMs), String(pauseMs)];
  const shell = spawn('bash', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  // From the beginning: it may have ended before what it said is seen.
  const closed = once(shell, 'close');
  const chunks: Buffer[] = [];
  shell.stdout.on('data', chunk => chunks.push(chunk));
  const told = await until('it to say what became of it', 60_000, () => {
    const text =
      statSync(join(folder, 'told'), { throwIfNoEntry: false }) && readFileSync(join(folder, 'told'), 'utf8');
    return text?.includes('\n') === true ? text : null;
  });
  const ms = performance.now() - began;
  await closed;
  return { sealed: JSON.parse(told) as Sealed, stdout: Buffer.concat(chunks), ms };
}

describe('an output on stdout', () => {
  it('goes to a reader, and has no path', async () => {
    const { sealed, stdout } = await throughPipe('cat', SEAL_MS);
    expect(sealed).toEqual({ path: null, bytes: 1 << 20, abandoned: [] });
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(WHOLE);
  });

  it('waits for a reader that is slow but moves', async () => {
    const slow = 'for i in $(seq 16); do head -c 65536; sleep 0.2; done';
    const { sealed, stdout } = await throughPipe(slow, 40_000);
    expect(sealed).toMatchObject({ path: null, abandoned: [] });
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(WHOLE);
  });

  it('waits for a reader that pauses for longer than a disk may', async () => {
    const { sealed, stdout } = await throughPipe('head -c 65536; sleep 4; cat', 40_000);
    expect(sealed).toMatchObject({ path: null, abandoned: [] });
    expect(stdout.length).toBe(1 << 20);
  });

  it('is a whole file elsewhere when the reader is gone', async () => {
    const { sealed } = await throughPipe('head -c 100 > /dev/null', SEAL_MS, 500);
    expect(sealed).toMatchObject({ path: join(folder, 'name'), abandoned: [{ place: 'stdout', reason: 'EPIPE' }] });
    expect(sha256(join(folder, 'name'))).toBe(WHOLE);
  });

  it('is a whole file elsewhere when there is no stdout at all', async () => {
    const shell = spawn(
      'bash',
      ['-c', '"$0" "$1" "$2" name 20000 2>"$2/told" >&-', process.execPath, fixture, folder],
      {
        stdio: 'ignore',
      },
    );
    await new Promise(resolve => shell.on('close', resolve));
    const sealed = JSON.parse(readFileSync(join(folder, 'told'), 'utf8')) as Sealed;
    expect(sealed).toMatchObject({ path: join(folder, 'name'), abandoned: [{ place: 'stdout', reason: 'EBADF' }] });
    expect(sha256(join(folder, 'name'))).toBe(WHOLE);
  });

  it('is a whole file elsewhere when the reader stops for ever, and the run ends on time', async () => {
    const { sealed, ms } = await throughPipe(`head -c 65536 > /dev/null; sleep 12`, 8000);
    expect(sealed).toMatchObject({
      path: join(folder, 'name'),
      abandoned: [{ place: 'stdout', reason: expect.stringMatching(/no answer for \d+ ms/) }],
    });
    expect(sha256(join(folder, 'name'))).toBe(WHOLE);
    expect(ms).toBeLessThan(20_000);
  }, 60_000);
});

describe('a run that is over', () => {
  it('has no writers left', async () => {
    const isWriter = (pid: number) =>
      alive(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--stallcap-writer');
    await until('all writers to be gone', 10_000, () => ![...withDescendants([process.pid])].some(isWriter));
  });
});
