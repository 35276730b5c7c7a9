import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type Header, pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { BundleError } from '../../src/bundle/bundle-error.ts';
import { BUNDLE_LIMITS } from '../../src/bundle/limits.ts';
import { BundleReader } from '../../src/bundle/read.ts';
import { redactBundle } from '../../src/bundle/redact/redact-bundle.ts';
import { verifyBundle } from '../../src/bundle/verify.ts';
import { readFacts } from '../../src/diagnosis/read-facts.ts';
import { note } from '../lab/faults/figures.ts';
import { evidence, MiB, makeBundle } from './made/bundle.ts';
import { pieces } from './made/sources.ts';

interface Planted {
  readonly name: string;
  readonly type?: 'file' | 'link' | 'symlink' | 'character-device' | 'block-device' | 'fifo' | 'directory';
  readonly linkname?: string;
  readonly pax?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A tar.gz with these entries behind an innocent plan.json. */
async function tarGz(planted: readonly Planted[]): Promise<Buffer> {
  const tar = pack();
  for (const { body, ...header } of [{ name: 'f/plan.json', body: '{}' }, ...planted] as Planted[]) {
    const isFile = header.type === undefined || header.type === 'file';
    tar.entry(header as Header, isFile ? (body ?? 'x') : '');
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}

async function firstProblem(file: Buffer, limits = BUNDLE_LIMITS) {
  const { whole, state, problems } = await verifyBundle(pieces(file), limits);
  expect(whole).toBe(false);
  return { state, code: problems[0]?.code, path: problems[0]?.path, says: problems[0]?.says };
}

describe('a bundle from somebody else is refused', () => {
  it.each([
    ['an absolute path', { name: '/etc/cron.d/x' }, 'bad-path'],
    ['a path that leaves the folder', { name: 'f/../../x' }, 'bad-path'],
    ['a path that leaves by its extended header', { name: 'f/ok', pax: { path: 'f/../../etc/x' } }, 'bad-path'],
    ['a path with a terminal escape', { name: 'f/\x1b]0;x\x07' }, 'bad-path'],
    ['a path with a newline', { name: 'f/a\nb' }, 'bad-path'],
    ['a path with a backslash', { name: 'f/a\\..\\b' }, 'bad-path'],
    ['a path outside ASCII', { name: 'f/ﬁ' }, 'bad-path'],
    ['a second folder', { name: 'g/x' }, 'outside-folder'],
    ['a file without a folder', { name: 'x' }, 'outside-folder'],
    ['a symbolic link', { name: 'f/x', type: 'symlink', linkname: '/etc/shadow' }, 'not-a-file'],
    ['a hard link', { name: 'f/x', type: 'link', linkname: 'f/plan.json' }, 'not-a-file'],
    ['a device', { name: 'f/x', type: 'block-device' }, 'not-a-file'],
    ['a character device', { name: 'f/x', type: 'character-device' }, 'not-a-file'],
    ['a pipe', { name: 'f/x', type: 'fifo' }, 'not-a-file'],
    ['a second entry of the same path', { name: 'f/plan.json' }, 'duplicate'],
    ['the same path written otherwise', { name: './f/plan.json' }, 'duplicate'],
  ] as const)('%s', async (_, planted, code) => {
    const file = await tarGz([planted]);
    const problem = await firstProblem(file);
    await expect(redactBundle(pieces(file), { write: () => {} }, {})).rejects.toMatchObject({ code });
    expect(problem).toMatchObject({ state: 'damaged', code });
    expect(`${problem.path} ${problem.says}`).toMatch(/^[\x20-\x7e\xa0-\xff…]+$/);
  });

  it('a bomb: small file, endless zeros', async () => {
    const bomb = await tarGz([{ name: 'f/zeros', body: Buffer.alloc(80 * MiB) }]);
    expect(bomb.length).toBeLessThan(100_000);
    expect(await firstProblem(bomb)).toMatchObject({ state: 'damaged', code: 'bomb' });
  });

  it('more unpacked bytes than any bundle has', async () => {
    const limits = { ...BUNDLE_LIMITS, unpackedBytes: 100_000 };
    const file = await tarGz([{ name: 'f/x', body: 'xy'.repeat(60_000) }]);
    expect(await firstProblem(file, limits)).toMatchObject({ code: 'bomb' });
  });

  it('more entries than any bundle has', async () => {
    const many = Array.from({ length: 200 }, (_, n) => ({ name: `f/${n}` }));
    const limits = { ...BUNDLE_LIMITS, entries: 100 };
    expect(await firstProblem(await tarGz(many), limits)).toMatchObject({ code: 'bomb' });
  });

  it('an extended header of absurd size', async () => {
    const file = await tarGz([{ name: 'f/x', pax: { comment: 'c'.repeat(100_000) } }]);
    expect(await firstProblem(file)).toMatchObject({ code: 'bomb' });
  });

  it('gzip members without end', async () => {
    const empty = gzipSync(Buffer.alloc(0));
    const endless = (async function* () {
      for (;;) yield Buffer.concat(Array.from({ length: 3000 }, () => empty));
    })();
    const limits = { ...BUNDLE_LIMITS, unpackedBytes: MiB };
    expect(await verifyBundle(endless, limits)).toMatchObject({ problems: [{ code: 'bomb' }] });
  });

  it('reads no further behind a fault, however long the stream', async () => {
    const file = (await makeBundle([evidence('a', 'x')])).file;
    const endless = (async function* () {
      yield file;
      for (;;) yield Buffer.alloc(64 * 1024, 0xff);
    })();
    expect(await verifyBundle(endless)).toMatchObject({ state: 'damaged' });
  });
});

describe('a manifest', () => {
  it('may list one entry two hundred thousand times', async () => {
    const item = '{"path":"plan.json","sha256":"0"},';
    const manifest = `{"format":1,"capture":{"outcome":"complete"},"items":[${item.repeat(200_000).slice(0, -1)}]}`;
    const verified = await verifyBundle(pieces(await tarGz([{ name: 'f/manifest.json', body: manifest }])));
    expect(verified).toMatchObject({ state: 'damaged' });
    expect(verified.problems.filter(({ code }) => code === 'altered')).toHaveLength(200_000);
  });
});

describe('a copy without secrets', () => {
  it.each([
    ['is nested without end', '['.repeat(100_000) + ']'.repeat(100_000), 'not-a-bundle'],
    ['is larger than any', JSON.stringify('x'.repeat(65 * MiB)), 'too-large'],
  ])('is refused for a manifest that %s', async (_, value, code) => {
    const { file } = await tarOf(`{"format":1,"x":${value}}`);
    await expect(redactBundle(pieces(file), { write: () => {} }, {})).rejects.toMatchObject({ code });
  });

  it.each(['null', '[]', '7'])('is refused for a manifest that is %s', async manifest => {
    const { file } = await tarOf(manifest);
    await expect(redactBundle(pieces(file), { write: () => {} }, {})).rejects.toMatchObject({ code: 'not-a-bundle' });
  });

  it('leaves items of a manifest that are none', async () => {
    const { file } = await tarOf('{"items":[null,7,"x",{"path":7},{"path":"a","redacted":3}]}');
    const copied = await redactBundle(pieces(file), { write: () => {} }, {});
    expect(copied.entries).toBe(2);
  });

  const tarOf = async (manifest: string) => ({ file: await tarGz([{ name: 'f/manifest.json', body: manifest }]) });
});

describe('a bundle that was altered', () => {
  it('is refused, or read to its end, by whoever copies or judges it: no other error, no copy that is not whole', async context => {
    const { file } = await makeBundle([
      evidence('shim/stat', '1 (x) S'),
      evidence('logs/containerd.log', 'a\n'.repeat(3000)),
    ]);
    const runs = 250;
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length * 8 - 1), fc.nat(file.length), async (bit, end) => {
        const altered = Buffer.from(file.subarray(0, end % 2 === 0 ? file.length : end));
        const at = (bit >> 3) % Math.max(1, altered.length);
        if (altered.length > 0) altered[at] = (altered[at] as number) ^ (1 << (bit & 7));
        const copy: Buffer[] = [];
        const copied = await redactBundle(pieces(altered), { write: chunk => void copy.push(chunk) }, {}).catch(
          refused,
        );
        if (copied !== null) expect((await verifyBundle(pieces(Buffer.concat(copy)))).whole).toBe(true);
        await readFacts(pieces(altered)).catch(refused);
      }),
      { numRuns: runs },
    );
    note(context, { fuzzRuns: 2 * runs });
  });
});

/** A clear word about the bundle; what else is thrown is a crash. */
function refused(error: unknown): null {
  if (error instanceof BundleError) return null;
  throw error;
}

describe('the reader', () => {
  it('takes what GNU tar packs anew: directories, no hashes', async () => {
    const file = await tarGz([
      { name: 'f/shim/', type: 'directory' },
      { name: 'f/shim/stat', body: '1 (x) S' },
    ]);
    const reader = new BundleReader(pieces(file));
    const seen: string[] = [];
    for await (const entry of reader.entries()) {
      seen.push(`${entry.path}: ${await entry.read()} ${(await entry.finish()).state}`);
    }
    expect(seen).toEqual(['plan.json: {} unhashed', 'shim/stat: 1 (x) S unhashed']);
    expect(reader.end).toBe('unsealed');
  });

  it('delivers the part of an entry that came before the cut', async () => {
    const body = Buffer.from('0123456789'.repeat(100_000));
    const { file } = await makeBundle([evidence('logs/x.log', body)]);
    const reader = new BundleReader(pieces(file.subarray(0, file.length / 2)));
    let part: Buffer = Buffer.alloc(0);
    let state = '';
    for await (const entry of reader.entries()) {
      part = await entry.read();
      ({ state } = await entry.finish());
    }
    expect(state).toBe('cut');
    expect(part.length).toBeGreaterThan(10_000);
    expect(part.equals(body.subarray(0, part.length))).toBe(true);
    expect(reader.end).toBe('cut');
  });

  it('refuses to hold an entry that is larger than it was told', async () => {
    const { file } = await makeBundle([evidence('logs/x.log', Buffer.alloc(10_000, 'x'))]);
    const read = async () => {
      for await (const entry of new BundleReader(pieces(file)).entries()) await entry.read(5000);
    };
    await expect(read()).rejects.toMatchObject({ code: 'too-large', path: 'logs/x.log' });
  });

  it('skips what nobody asks for', async () => {
    const { file } = await makeBundle([evidence('a', 'A'.repeat(5000)), evidence('b', 'B')]);
    const paths: string[] = [];
    const reader = new BundleReader(pieces(file));
    for await (const entry of reader.entries()) paths.push(entry.path);
    expect(paths).toEqual(['plan.json', 'a', 'b', 'SUMMARY.md', 'manifest.json']);
    expect(reader.end).toBe('sealed');
  });
});
