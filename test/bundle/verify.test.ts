import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SEAL_BYTES } from '../../src/bundle/gzip-frame.ts';
import { verifyBundle } from '../../src/bundle/verify.ts';
import type { Verification, VerifyResult } from '../../src/bundle/verify-result.ts';
import { note } from '../lab/faults/figures.ts';
import { evidence, logLines, type Made, makeBundle, noise } from './made/bundle.ts';
import { FOLDER } from './made/documents.ts';
import { pieces } from './made/sources.ts';

const ENTRIES = [
  evidence('shim/threads-1.txt', '===== 24112 containerd-shim D ovl_sync_fs =====\n'),
  evidence('node/meminfo', 'MemTotal:       24683612 kB\n'),
  evidence('node/empty', '', { outcome: 'empty' }),
  evidence('logs/containerd.log', logLines(200_000)),
  evidence('logs/noise', noise(30_000)),
  evidence('runtime/crictl.txt', 'x'.repeat(511)),
];
const PATHS = ['plan.json', ...ENTRIES.map(({ path }) => path), 'SUMMARY.md', 'manifest.json'];

let made: Made;
/** Small, for the tests that try it thousands of times. */
let small: Made;

beforeAll(async () => {
  made = await makeBundle(ENTRIES);
  small = await makeBundle([
    ...ENTRIES.slice(0, 3),
    evidence('logs/a', logLines(5000)),
    evidence('logs/b', noise(500)),
  ]);
});

let verified = 0;
const verify = (file: Uint8Array): Promise<Verification> => {
  verified += 1;
  return verifyBundle(pieces(file));
};
afterEach(context => {
  note(context, { fuzzRuns: verified });
  verified = 0;
});

describe('verify', () => {
  it('calls a bundle whole that is as it was sealed', async () => {
    expect(await verify(made.file)).toEqual({
      whole: true,
      state: 'whole',
      folder: FOLDER,
      bytes: made.file.length,
      entries: PATHS.length,
      lastWhole: 'manifest.json',
      manifest: true,
      captureOutcome: 'interrupted',
      problems: [],
      missing: [],
    });
  });

  it.each([1, 13, 57, 59, 1_000_000])('does so in pieces of %i bytes', async size => {
    expect(await verifyBundle(pieces(made.file, size))).toMatchObject({ whole: true });
  });

  it('prints what its schema says', async () => {
    const schema = JSON.parse(readFileSync(new URL('../../schemas/verify.schema.json', import.meta.url), 'utf8'));
    const validate = new Ajv2020({ allowUnionTypes: true }).compile({ ...schema, additionalProperties: false });
    for (const file of [made.file, made.file.subarray(0, 30_000), noise(5000)]) {
      const verification = await verify(file);
      const result: VerifyResult = { bundle: '-', exitCode: verification.whole ? 0 : 3, ...verification };
      expect(validate(result), JSON.stringify(validate.errors)).toBe(true);
      for (const key of Object.keys(result)) expect(validate({ ...result, [key]: undefined })).toBe(false);
    }
  });
});

describe('a bundle that was cut', () => {
  const expectCut = (verification: Verification, at: number) => {
    expect(verification.whole, `at ${at}`).toBe(false);
    const { state, lastWhole, missing, manifest } = verification;
    expect(state, `at ${at}`).toBe('cut');
    const last = lastWhole === null ? -1 : PATHS.indexOf(lastWhole);
    expect(verification.entries).toBe(last + 1);
    expect(verification.problems.map(({ code }) => code)).toEqual(['cut']);
    if (!manifest) expect(missing).toContain('manifest.json');
  };

  it('verifies up to the cut, at every 512 bytes', async () => {
    const reached = new Set<string | null>();
    for (let at = 512; at < made.file.length; at += 512) {
      // Exactly the seal is missing, as the noise may have it: see below.
      if (at === made.file.length - SEAL_BYTES) continue;
      const verification = await verify(made.file.subarray(0, at));
      expectCut(verification, at);
      reached.add(verification.lastWhole);
    }
    expect(reached).toContain('logs/containerd.log');
    expect(reached.size).toBeGreaterThan(3);
  });

  it('is never whole, whichever of the last bytes are missing', async () => {
    for (let lost = 1; lost < SEAL_BYTES + 400; lost++) {
      const { whole, state, problems } = await verify(small.file.subarray(0, -lost));
      expect(whole, `without the last ${lost} bytes`).toBe(false);
      // Exactly the seal is missing: nobody can say whether it was cut off or never there.
      expect([state, problems[0]?.code]).toEqual(lost === SEAL_BYTES ? ['damaged', 'no-seal'] : ['cut', 'cut']);
    }
  });

  it('says which entry was cut, and what every bundle ends with', async () => {
    const at = made.file.length - 10_000;
    const { missing, problems } = await verify(made.file.subarray(0, at));
    expect(missing).toEqual(['logs/noise', 'SUMMARY.md', 'manifest.json']);
    expect(problems[0]?.says).toBe('the file ends after logs/containerd.log');
  });
});

describe('a bundle that was altered', () => {
  it('is never whole, whichever bit is flipped', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(small.file.length * 8 - 1), async bit => {
        const file = Buffer.from(small.file);
        file[bit >> 3] = (file[bit >> 3] as number) ^ (1 << (bit & 7));
        expect((await verify(file)).whole).toBe(false);
      }),
      { numRuns: 400 },
    );
  });

  it('is never whole with a bit flipped in the header, in the last blocks, or in the seal, where gzip does not look', async () => {
    const ends = [...Array(16).keys(), ...Array.from({ length: 200 }, (_, n) => small.file.length - 1 - n)];
    for (const at of ends) {
      for (let bit = 0; bit < 8; bit++) {
        const file = Buffer.from(small.file);
        file[at] = (file[at] as number) ^ (1 << bit);
        expect((await verify(file)).whole, `byte ${at} bit ${bit}`).toBe(false);
      }
    }
  });

  it('is never whole with bytes added, taken out or swapped', async () => {
    const { length } = small.file;
    await fc.assert(
      fc.asyncProperty(fc.nat(length), fc.uint8Array({ maxLength: 40 }), fc.nat(40), async (at, added, taken) => {
        const file = Buffer.concat([small.file.subarray(0, at), added, small.file.subarray(at + taken)]);
        fc.pre(!file.equals(small.file));
        expect((await verify(file)).whole).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it('is never whole when the tar was changed and packed anew, and never breaks the reader', async () => {
    const tar = gunzipSync(small.file);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(tar.length - 1), fc.nat(255)), { maxLength: 6 }), async changes => {
        const changed = Buffer.from(tar);
        for (const [at, value] of changes) changed[at] = value;
        const verification = await verify(gzipSync(changed, { level: 1 }));
        expect(verification.whole).toBe(false);
        expect(verification.state).not.toBe('cut');
      }),
      { numRuns: 300 },
    );
  });

  it('finds header blocks that were changed: every byte of the first two, packed anew', async () => {
    const tar = gunzipSync(small.file);
    for (let at = 0; at < 2048; at += 3) {
      const changed = Buffer.from(tar);
      changed[at] = (changed[at] as number) ^ 0x41;
      expect((await verify(gzipSync(changed, { level: 1 }))).whole).toBe(false);
    }
  });

  it('says so when it is right but was packed by another program', async () => {
    const verification = await verify(gzipSync(gunzipSync(small.file)));
    expect(verification).toMatchObject({ whole: false, state: 'damaged', manifest: true, missing: [] });
    expect(verification.problems.map(({ code }) => code)).toEqual(['no-seal']);
  });
});

describe('anything else', () => {
  it('is not a bundle: random bytes, packed or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), fc.boolean(), async (bytes, packed) => {
        const verification = await verify(packed ? gzipSync(bytes) : bytes);
        expect(verification.whole).toBe(false);
        // 'cut' is all that can be said of a gzip stream that ends before its first 512 bytes.
        expect(['not a bundle', 'cut']).toContain(verification.state);
      }),
      { numRuns: 300 },
    );
  });

  it('passes on an error of the source', async () => {
    const failing = (async function* () {
      yield made.file.subarray(0, 1000);
      throw new Error('EIO');
    })();
    await expect(verifyBundle(failing)).rejects.toThrow('EIO');
  });
});
