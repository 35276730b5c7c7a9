import { expect, test } from 'vitest';
import { placesFor, whyElsewhere } from '../../src/capture/places.ts';

const apart = { path: '/home/ops', standing: 'apart' } as const;
const places = (...args: Parameters<typeof placesFor>) =>
  placesFor(...args).map(place => (place.kind === 'stdout' ? '-' : `${place.dir}/${place.name}`));
const memory = ['/run/stallcap/b.tar.gz', '/dev/shm/b.tar.gz'];

test('without -o the bundle goes to the current directory, then to memory', () => {
  expect(places({ kind: 'default' }, 'b.tar.gz', apart)).toEqual(['/home/ops/b.tar.gz', ...memory]);
  expect(whyElsewhere({ kind: 'default' }, apart)).toBeNull();
});

test.each(['shared', 'silent'] as const)('a current directory that is %s is left out, and that is said', standing => {
  const current = { path: '/var/lib/containerd', standing };
  expect(places({ kind: 'default' }, 'b.tar.gz', current)).toEqual(memory);
  expect(whyElsewhere({ kind: 'default' }, current)).toContain('/var/lib/containerd');
});

test('a current directory that was removed is said to be, and the bundle goes to memory', () => {
  const current = { path: '/proc/self/cwd', standing: 'gone' } as const;
  expect(places({ kind: 'default' }, 'b.tar.gz', current)).toEqual(memory);
  expect(whyElsewhere({ kind: 'default' }, current)).toMatch(/^The current directory was removed, so/);
});

test('what -o names comes first wherever it lies', () => {
  const shared = { path: '/data', standing: 'shared' } as const;
  expect(places({ kind: 'path', path: 'web.tgz' }, 'b.tar.gz', shared)).toEqual(['/data/web.tgz', ...memory]);
  expect(places({ kind: 'path', path: '/mnt/usb/' }, 'b.tar.gz', shared)).toEqual(['/mnt/usb/b.tar.gz', ...memory]);
  expect(places({ kind: 'path', path: '..' }, 'b.tar.gz', shared)).toEqual(['//b.tar.gz', ...memory]);
  expect(places({ kind: 'stdout' }, 'b.tar.gz', shared)).toEqual(['-', ...memory]);
  expect(whyElsewhere({ kind: 'path', path: 'web.tgz' }, shared)).toBeNull();
});
