import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoOfNs, listing } from '../../src/collectors/listing.ts';
import type { FileStat } from '../../src/host/port.ts';

const STAT: FileStat = {
  ...{ type: 'file', size: 170, mode: 0o100600, uid: 0, inode: '2152642', device: '254:0' },
  ...{ mtimeNs: '1795952553569336228', ctimeNs: '1795952553569336229' },
};
const HEAD = '# lstat of /d, at 2026-11-29T12:00:00.000Z\n';
const lines = (...entries: Parameters<typeof listing>[2]) =>
  listing('/d', '2026-11-29T12:00:00.000Z', entries).toString().slice(HEAD.length);

describe('a listing', () => {
  it('shows times to the nanosecond, and permissions without the type', () => {
    expect(lines({ name: 'status', file: { outcome: 'ok', stat: STAT } })).toBe(
      'file 0600 uid=0 size=170 mtime=2026-11-29T11:42:33.569336228Z ctime=2026-11-29T11:42:33.569336229Z inode=2152642 device=254:0 status\n',
    );
  });

  it('shows where a link leads', () => {
    const file = { outcome: 'ok', stat: { ...STAT, type: 'link' } } as const;
    expect(lines({ name: 'work', file, target: '/var/lib/x' })).toMatch(/^link .* work -> \/var\/lib\/x\n$/);
  });

  it('says of each file that is not described why not', () => {
    expect(lines({ name: 'exec.fifo', file: { outcome: 'gone', detail: 'ENOENT' } })).toBe('(not there) exec.fifo\n');
    expect(lines({ name: 'status', file: { outcome: 'timeout', detail: 'no answer' } })).toBe(
      '(timeout, no answer) status\n',
    );
    expect(lines({ name: 'rootfs', file: null, remark: 'a mount' })).toBe('(a mount) rootfs\n');
  });

  it('has one line per file, whatever the file is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), name => {
        expect(lines({ name, file: { outcome: 'ok', stat: STAT } }).split('\n')).toHaveLength(2);
      }),
    );
  });
});

describe('nanoseconds as ISO 8601', () => {
  it('lose nothing, and agree with Date to the millisecond', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 4n * 10n ** 18n }), ns => {
        const iso = isoOfNs(ns.toString());
        const digits = /\.(\d{9})Z$/.exec(iso)?.[1] ?? '';
        expect(BigInt(Date.parse(iso.replace(/\.\d+/, ''))) * 1_000_000n + BigInt(digits)).toBe(ns);
      }),
    );
  });
});

describe('a time of a file', () => {
  it('that no calendar has is given as seconds: a tmpfs holds any', () => {
    expect(isoOfNs('9999999999999000000001')).toBe('@9999999999999.000000001');
    expect(isoOfNs('-9999999999999000000001')).toBe('@-9999999999999.000000001');
    expect(isoOfNs('1795978513569336228')).toBe('2026-11-29T18:55:13.569336228Z');
  });
});
