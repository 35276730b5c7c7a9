import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Containerd, startContainerd } from '../containerd.ts';
import { freeze, makeDisk } from '../disk.ts';
import { during } from '../during.ts';
import { type Bundle, openBundle } from '../grab/bundle.ts';
import type { Run } from '../grab/stallcap.ts';
import type { Pod } from '../pod.ts';
import { labUnavailable } from '../requirements.ts';
import { run as runProgram } from '../run.ts';
import { stalled } from '../stalls/stall.ts';
import { until } from '../wait.ts';
import { runThrough } from './grab-through.ts';

/** No bundle here is smaller than what a pipe takes at once, 64 KiB. */
const NOISE_BYTES = 80_000;

/** Where a bundle goes that has no other place: a small /run comes after a roomy /dev/shm. */
const MEMORY = ['/run/stallcap', '/dev/shm'];

/** Expects that the bundle lies in memory, opens it, and takes it away. */
async function inMemory(run: Run, look: (bundle: Bundle, file: string) => void = () => {}): Promise<void> {
  const file = /^Bundle: (\/\S+) /m.exec(run.stderr)?.[1] ?? '';
  try {
    expect(MEMORY, run.stderr).toContain(dirname(file));
    expect(run.exit, run.stderr).toBe(0);
    look(await openBundle(file), file);
  } finally {
    if (file !== '') rmSync(file, { force: true });
  }
}

describe.skipIf(labUnavailable())('a bundle', () => {
  let containerd: Containerd;
  let pod: Pod;
  const folder = () => containerd.folder;
  beforeAll(async () => {
    containerd = await startContainerd();
    pod = await containerd.runPod({ name: `web-${process.pid}`, namespace: 'shop' });
    await pod.addContainer({ name: 'app' });
    const noise =
      randomBytes(NOISE_BYTES)
        .toString('base64')
        .match(/.{1,100}/g) ?? [];
    appendFileSync(join(folder().path, 'containerd.log'), noise.map(line => `${line}\n`).join(''));
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  const GRAB = () => ['grab', pod.id, '--signal-again', '--samples', '1'];
  let places = 0;
  /** An empty directory of the lab. */
  const directory = (): string => {
    places += 1;
    const path = join(folder().path, `place-${places}`);
    mkdirSync(path);
    return path;
  };
  /** A pipe with nobody at its other end but us: `written` is for the run, `read` has what comes. */
  const pipe = async () => {
    places += 1;
    const path = join(folder().path, `pipe-${places}`);
    await runProgram('mkfifo', [path]);
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { read, written: openSync(path, constants.O_WRONLY) };
  };

  it('for a disk that freezes in the middle is sealed in memory, and stderr says why', context =>
    during(
      stalled(async (own, undo) => ({ disk: await makeDisk(own), undo: undo.use(new AsyncDisposableStack()) })),
      async ({ disk, undo }) => {
        const run = await runThrough(context, folder(), [...GRAB(), '-o', `${disk.point}/`], {
          timeoutS: 12,
          meanwhile: async () => {
            await until('it to be written to', 10_000, () =>
              readdirSync(disk.point).some(name => name.endsWith('partial')),
            );
            await freeze(disk.point, undo);
          },
        });
        await inMemory(run);
        expect(run.stderr).toMatch(new RegExp(`^Not written to ${disk.point}\\S+ \\(no answer for \\d+ ms\\)`, 'm'));
        // Who wrote there, and who is to take it away again; both do when the disk answers.
        expect(run.left.length).toBeGreaterThan(0);
        for (const process of run.left) expect(process).toMatch(/ D$/);
        await undo.disposeAsync();
        await until('what was begun to be gone', 10_000, () => readdirSync(disk.point).join() === 'lost+found');
      },
    ));

  it('for a reader of stdout that stops for ever is sealed in memory', async context => {
    const { read, written } = await pipe();
    try {
      const run = await runThrough(context, folder(), [...GRAB(), '-o', '-'], { timeoutS: 7, stdout: written });
      await inMemory(run);
      expect(run.stderr).toMatch(/^Not written to stdout \(no answer for \d+ ms\)$/m);
      expect(run.left).toEqual([]);
    } finally {
      closeSync(read);
      closeSync(written);
    }
  });

  it('for a reader of 10 kB a second is all there when the time allows', async context => {
    const { read, written } = await pipe();
    const pieces: Buffer[] = [];
    let over = false;
    const reading = (async () => {
      for (const piece = Buffer.alloc(10_000); !over || pieces.at(-1)?.length; await sleep(over ? 0 : 1000)) {
        try {
          pieces.push(Buffer.from(piece.subarray(0, readSync(read, piece))));
        } catch {
          // Nothing there yet.
        }
      }
    })();
    const run = await runThrough(context, folder(), [...GRAB(), '-o', '-'], { timeoutS: 45, stdout: written });
    over = true;
    closeSync(written);
    await reading;
    closeSync(read);
    expect(run.exit, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/^Bundle: standard output /m);
    expect((await openBundle(Buffer.concat(pieces))).manifest.capture.outcome).toBe('complete');
  });

  it('for a reader that is too slow for the time is sealed in memory', async context => {
    const { read, written } = await pipe();
    const slow = setInterval(() => {
      try {
        readSync(read, Buffer.alloc(10_000));
      } catch {
        // Nothing there yet.
      }
    }, 1000);
    try {
      const run = await runThrough(context, folder(), [...GRAB(), '-o', '-'], { timeoutS: 7, stdout: written });
      await inMemory(run);
      expect(run.stderr).toMatch(/^Not written to stdout \(no answer for \d+ ms\)$/m);
    } finally {
      clearInterval(slow);
      closeSync(read);
      closeSync(written);
    }
  });

  it('for a reader that closes is in memory, whole', async context => {
    const head = join(directory(), 'head');
    const run = await runThrough(context, folder(), [...GRAB(), '-o', '-'], {
      timeoutS: 20,
      prefix: ['sh', '-c', '{ "$@"; echo "exit code $?" >&2; } | head -c 20000 >"$0"', head],
    });
    await inMemory(run, (_, file) =>
      expect(readFileSync(file).subarray(0, 20_000).equals(readFileSync(head))).toBe(true),
    );
    expect(run.stderr).toMatch(/^Not written to stdout \(EPIPE\)$/m);
    expect(run.stderr).toContain('exit code 0\n');
  });

  it.for([
    ['full', 'size=64k', 'ENOSPC'],
    ['read-only', 'ro', 'EROFS'],
  ] as const)('for a disk that is %s is in memory, and nothing is left there', ([_, options, errno], context) =>
    during(
      stalled(async own => {
        const place = join(own.path, 'small');
        mkdirSync(place);
        await runProgram('mount', ['-t', 'tmpfs', '-o', options, own.name, place]);
        return { place };
      }),
      async ({ place }) => {
        const run = await runThrough(context, folder(), [...GRAB(), '-o', `${place}/`], { timeoutS: 20 });
        await inMemory(run);
        expect(run.stderr).toMatch(new RegExp(`^Not written to ${place}\\S+ \\(${errno}\\)$`, 'm'));
        expect(readdirSync(place)).toEqual([]);
      },
    ),
  );

  it('over the quota of its owner is in memory, and nothing is left', async context => {
    const place = directory();
    const refused = ['-etrace=write,writev,pwrite64', '-einject=write,writev,pwrite64:error=EDQUOT:when=3+'];
    const run = await runThrough(context, folder(), [...GRAB(), '-o', join(place, 'web.tgz')], {
      timeoutS: 25,
      // Not every kernel has quotas, so strace answers for one.
      prefix: ['strace', '-f', '-qq', '-o/dev/null', '-P', join(place, 'web.tgz.partial'), ...refused],
    });
    await inMemory(run);
    expect(run.stderr).toMatch(/^Not written to \S+web\.tgz \(EDQUOT\)$/m);
    expect(readdirSync(place)).toEqual([]);
  });

  it('that no place takes is an error that names each of them, and no file', async context => {
    const place = directory();
    const readOnly = 'mount -t tmpfs -o ro none "$0" && mount -t tmpfs -o ro none /dev/shm';
    const run = await runThrough(context, folder(), [...GRAB(), '-o', `${place}/`], {
      timeoutS: 12,
      prefix: [
        'unshare',
        '-m',
        'sh',
        '-c',
        `${readOnly} && mkdir -p /run/stallcap && mount -t tmpfs -o ro none /run/stallcap && exec "$@"`,
        place,
      ],
    });
    expect(run.exit, run.stderr).toBe(1);
    expect(run.stdout.toString()).toBe('');
    expect(run.stderr).toMatch(
      /^Error: No place took the bundle \(.*EROFS.*\/(?:run\/stallcap|dev\/shm).*EROFS.*\/(?:run\/stallcap|dev\/shm).*EROFS\)\./m,
    );
    expect(run.stderr).toMatch(/^ {2}→ Name a directory that answers and has room/m);
    expect(run.left).toEqual([]);
  });

  it('whose names are taken by links is in memory, and goes through none of them', async context => {
    const place = directory();
    const victim = join(directory(), 'victim');
    writeFileSync(victim, 'as it was');
    symlinkSync(victim, join(place, 'web.tgz'));
    symlinkSync(victim, join(place, 'other.tgz.partial'));
    for (const name of ['web.tgz', 'other.tgz']) {
      const run = await runThrough(context, folder(), [...GRAB(), '-o', join(place, name)], { timeoutS: 20 });
      await inMemory(run);
      expect(run.stderr).toMatch(new RegExp(`^Not written to \\S+${name} \\(EEXIST\\)$`, 'm'));
    }
    expect(readFileSync(victim, 'utf8')).toBe('as it was');
    expect(readdirSync(place).sort()).toEqual(['other.tgz.partial', 'web.tgz']);
  });
});
