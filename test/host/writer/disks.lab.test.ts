import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { selfCommand } from '../../../src/host/self.ts';
import { openOutput } from '../../../src/host/writer/output.ts';
import { freeze, makeDisk } from '../../lab/disk.ts';
import { during } from '../../lab/during.ts';
import { labUnavailable } from '../../lab/requirements.ts';
import { run } from '../../lab/run.ts';
import { stalled } from '../../lab/stalls/stall.ts';
import { until } from '../../lab/wait.ts';

const BUNDLE = Buffer.alloc(3 << 20, 'bundle ');

describe.skipIf(labUnavailable())('an output on a disk that', () => {
  it('is full gives back the room it took, and the bundle is elsewhere', () =>
    during(
      stalled(async folder => {
        const small = join(folder.path, 'small');
        const memory = join(folder.path, 'memory');
        for (const dir of [small, memory]) mkdirSync(dir);
        await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', folder.name, small]);
        return { small, memory };
      }),
      async ({ small, memory }) => {
        const output = openOutput([
          { kind: 'file', dir: small, name: 'b', why: 'here' },
          { kind: 'file', dir: memory, name: 'b', why: 'in memory' },
        ]);
        output.write(BUNDLE);
        const sealed = await output.seal(20_000);
        expect(sealed).toMatchObject({
          path: join(memory, 'b'),
          abandoned: [{ place: join(small, 'b'), reason: 'ENOSPC' }],
        });
        expect(readFileSync(join(memory, 'b'))).toEqual(BUNDLE);
        expect(readdirSync(small)).toEqual([]);
      },
    ));

  it('can only be read is given up', () =>
    during(
      stalled(async folder => {
        const dir = join(folder.path, 'fixed');
        mkdirSync(dir);
        await run('mount', ['-t', 'tmpfs', '-o', 'ro', folder.name, dir]);
        return { dir };
      }),
      async ({ dir, folder }) => {
        const output = openOutput([
          { kind: 'file', dir, name: 'b', why: 'here' },
          { kind: 'file', dir: folder.path, name: 'b', why: 'in memory' },
        ]);
        expect(await output.seal(20_000)).toMatchObject({
          path: join(folder.path, 'b'),
          abandoned: [{ reason: 'EROFS' }],
        });
      },
    ));

  it('freezes in the middle is given up after a silence, and the bundle is elsewhere from its first byte', () =>
    during(
      stalled(async (folder, undo) => ({ disk: await makeDisk(folder), undo: undo.use(new AsyncDisposableStack()) })),
      async ({ disk, folder, undo }) => {
        const output = openOutput([
          { kind: 'file', dir: disk.point, name: 'b', why: 'here' },
          { kind: 'file', dir: folder.path, name: 'b', why: 'in memory' },
        ]);
        output.write(BUNDLE.subarray(0, 1 << 20));
        await until('it to be written to', 15_000, () => readdirSync(disk.point).includes('b.partial'));
        await freeze(disk.point, undo);
        const began = performance.now();
        output.write(BUNDLE.subarray(1 << 20));
        const sealed = await output.seal(20_000);
        expect(sealed).toMatchObject({
          path: join(folder.path, 'b'),
          abandoned: [{ place: join(disk.point, 'b'), reason: expect.stringMatching(/^no answer for/) }],
        });
        expect(performance.now() - began).toBeLessThan(12_000);
        expect(readFileSync(join(folder.path, 'b'))).toEqual(BUNDLE);
        await undo.disposeAsync();
        await until('what was begun to be gone', 10_000, () => readdirSync(disk.point).join() === 'lost+found');
      },
    ));

  it.for([
    // Until the bundle is last, nobody has told its writer to finish it.
    ['takes too long to make it last', 'fsync', 'b.partial'],
    // Told to, it cannot be held back any more: what it finishes too late is taken away again.
    ['takes too long to give it its name', 'unlink', 'b.partial'],
  ] as const)('%s has no second bundle, nor a piece of one', ([_, call, file]) =>
    during(
      stalled(async folder => {
        const slow = join(folder.path, 'slow');
        const memory = join(folder.path, 'memory');
        for (const dir of [slow, memory]) mkdirSync(dir);
        return { slow, memory };
      }),
      async ({ slow, memory }) => {
        // strace stands for the disk: this one call on this one file takes seconds.
        const held = [
          ...['-f', '-qq', '-o/dev/null', '--seccomp-bpf', '-P', join(slow, file)],
          ...[`-etrace=${call}`, `-einject=${call}:delay_exit=4000000`],
        ];
        const output = openOutput(
          [
            { kind: 'file', dir: slow, name: 'b', why: 'here' },
            { kind: 'file', dir: memory, name: 'b', why: 'in memory' },
          ],
          { self: ['strace', ...held, process.execPath, ...selfCommand().slice(1)], silenceMs: 1500 },
        );
        output.write(BUNDLE);
        await until('it to be written', 15_000, () => readdirSync(slow).includes('b.partial'));
        const sealed = await output.seal(6000);
        expect(sealed).toMatchObject({
          path: join(memory, 'b'),
          abandoned: [{ place: join(slow, 'b'), reason: expect.stringMatching(/^no answer for/) }],
        });
        expect(readFileSync(join(memory, 'b'))).toEqual(BUNDLE);
        await until('what was begun to be gone', 10_000, () => readdirSync(slow).length === 0);
        // For as long as the call may still take: nothing comes back.
        await sleep(3000);
        expect(readdirSync(slow)).toEqual([]);
        expect(readdirSync(memory)).toEqual(['b']);
      },
    ),
  );

  it('is frozen from the start, and the only place, ends the run at its deadline', () =>
    during(
      stalled(async (folder, undo) => {
        const disk = await makeDisk(folder);
        await freeze(disk.point, undo);
        return { disk };
      }),
      async ({ disk }) => {
        const began = performance.now();
        const output = openOutput([{ kind: 'file', dir: disk.point, name: 'b', why: 'here' }]);
        output.write(BUNDLE);
        await expect(output.seal(3000)).rejects.toThrow('no answer within 3000 ms');
        expect(performance.now() - began).toBeLessThan(5000);
      },
    ));
});
