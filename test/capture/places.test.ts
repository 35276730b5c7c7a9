import { expect, test } from 'vitest';
import { bundleBytes, type MemoryRoom, memoryRoom, whySmaller } from '../../src/capture/memory-room.ts';
import { type CurrentDirectory, type OutputChoice, placesFor, whyElsewhere } from '../../src/capture/places.ts';
import { PaperHost } from '../collectors/paper-host.ts';

const apart = { path: '/home/ops', standing: 'apart' } as const;
const GIB = 1 << 30;
const MAX = 128 << 20;
const inMemory = (free: number) => ({ free, inMemory: true });
const ROOMY = new Map([
  ['/run', inMemory(6 * GIB)],
  ['/dev/shm', inMemory(30 * GIB)],
]);
const [RUN] = placesFor({ kind: 'default' }, 'b.tar.gz', { ...apart, standing: 'shared' }, ROOMY, MAX);
const why = (choice: OutputChoice, current: CurrentDirectory) => whyElsewhere(choice, current, RUN, ROOMY);
const places = (choice: OutputChoice, name: string, current: CurrentDirectory, room: MemoryRoom = ROOMY) =>
  placesFor(choice, name, current, room, MAX).map(place =>
    place.kind === 'stdout' ? '-' : `${place.dir}/${place.name}`,
  );
const memory = ['/run/stallcap/b.tar.gz', '/dev/shm/b.tar.gz'];

test('without -o the bundle goes to the current directory, then to memory', () => {
  expect(places({ kind: 'default' }, 'b.tar.gz', apart)).toEqual(['/home/ops/b.tar.gz', ...memory]);
  expect(why({ kind: 'default' }, apart)).toBeNull();
});

test.each(['shared', 'silent'] as const)('a current directory that is %s is left out, and that is said', standing => {
  const current = { path: '/var/lib/containerd', standing };
  expect(places({ kind: 'default' }, 'b.tar.gz', current)).toEqual(memory);
  expect(why({ kind: 'default' }, current)).toContain('/var/lib/containerd');
});

test('a current directory that was removed is said to be, and the bundle goes to memory', () => {
  const current = { path: '/proc/self/cwd', standing: 'gone' } as const;
  expect(places({ kind: 'default' }, 'b.tar.gz', current)).toEqual(memory);
  expect(why({ kind: 'default' }, current)).toMatch(/^The current directory was removed, so/);
});

test('what -o names comes first wherever it lies', () => {
  const shared = { path: '/data', standing: 'shared' } as const;
  expect(places({ kind: 'path', path: 'web.tgz' }, 'b.tar.gz', shared)).toEqual(['/data/web.tgz', ...memory]);
  expect(places({ kind: 'path', path: '/mnt/usb/' }, 'b.tar.gz', shared)).toEqual(['/mnt/usb/b.tar.gz', ...memory]);
  expect(places({ kind: 'path', path: '..' }, 'b.tar.gz', shared)).toEqual(['//b.tar.gz', ...memory]);
  expect(places({ kind: 'stdout' }, 'b.tar.gz', shared)).toEqual(['-', ...memory]);
  expect(why({ kind: 'path', path: 'web.tgz' }, shared)).toBeNull();
});

test('a small /run comes after a roomy /dev/shm, and a bundle there is held to a tenth of what is free', () => {
  const silent = { path: '/var/lib/containerd', standing: 'silent' } as const;
  const small = new Map([
    ['/run', inMemory(60 << 20)],
    ['/dev/shm', inMemory(30 * GIB)],
  ]);
  expect(places({ kind: 'default' }, 'b.tar.gz', silent, small)).toEqual(memory.toReversed());
  const [run] = placesFor({ kind: 'default' }, 'b.tar.gz', silent, new Map([['/run', inMemory(60 << 20)]]), 1 << 20);
  expect(bundleBytes(run, small, MAX)).toBe(6 << 20);
  expect(bundleBytes(run, new Map([['/run', inMemory(5 << 20)]]), MAX)).toBe(1 << 20);
  expect(whySmaller(run, small, MAX)).toBe(
    '/run/stallcap has 60.0 MiB free, so the bundle is held to 6.0 MiB (-o PATH overrides)',
  );
});

test('a /run on a disk comes last, and that it is none of memory is said where it is all there is', () => {
  const silent = { path: '/data', standing: 'silent' } as const;
  const room = new Map([
    ['/run', { free: 90 * GIB, inMemory: false }],
    ['/dev/shm', inMemory(GIB)],
  ]);
  expect(places({ kind: 'default' }, 'b.tar.gz', silent, room)).toEqual(memory.toReversed());
  const [shm, run] = placesFor({ kind: 'default' }, 'b.tar.gz', silent, room, MAX);
  const said = (place: typeof shm) => whyElsewhere({ kind: 'default' }, silent, place, room);
  expect(said(shm)).toBe('/data did not answer in time, so the bundle goes to /dev/shm, in memory (-o PATH overrides)');
  expect(said(run)).toContain('goes to /run/stallcap, a disk as well');
});

test('what the user named, or has room, is held to what was asked for', () => {
  const small = new Map([['/run', inMemory(60 << 20)]]);
  const [named] = placesFor({ kind: 'path', path: '/run/web.tgz' }, 'b.tar.gz', apart, small, MAX);
  const [run] = placesFor({ kind: 'default' }, 'b.tar.gz', { ...apart, standing: 'shared' }, ROOMY, MAX);
  for (const [place, room] of [
    [named, small],
    [run, ROOMY],
    [run, new Map()],
    [undefined, small],
  ] as const) {
    expect(bundleBytes(place, room, MAX)).toBe(MAX);
    expect(whySmaller(place, room, MAX)).toBeNull();
  }
});

test.each([
  ['has no more room than the node has available', 0x01021994, inMemory(100 << 20)],
  ['that lies on a disk after all has what that has', 0xef53, { free: 6 * GIB, inMemory: false }],
  ["that is a part of a container's own layer has none", 0x794c7630, { free: 0, inMemory: false }],
])('memory %s', async (_, type, room) => {
  const meminfo = 'MemTotal:  65536000 kB\nMemAvailable:  102400 kB\n';
  const files = { '/run': `${6 * GIB} ${type}`, '/dev/shm': { outcome: 'timeout' as const }, '/proc/meminfo': meminfo };
  expect([...(await memoryRoom(new PaperHost(files).host))]).toEqual([['/run', room]]);
});
