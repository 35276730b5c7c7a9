import { describe, expect, it } from 'vitest';
import { overlayDirs, parseMountinfo } from '../../../src/formats/proc/mountinfo.ts';
import { fixture } from '../fixture.ts';

const overlay = (options: string) => parseMountinfo(`36 25 0:47 / /m rw - overlay overlay ${options}\n`)[0];

describe('parseMountinfo', () => {
  it('reads the mounts of a shim', () => {
    const text = fixture('proc/shim-1.6.20/mountinfo');
    const mounts = parseMountinfo(text);
    expect(mounts).toHaveLength(text.trimEnd().split('\n').length);
    expect(mounts.find(mount => mount.mountPoint === '/')).toEqual({
      id: 27,
      parentId: 1,
      device: '254:0',
      root: '/',
      mountPoint: '/',
      options: ['rw', 'relatime'],
      tags: [],
      type: 'ext4',
      source: '/dev/vda',
      superOptions: ['rw', 'discard', 'resv_strict', 'resuid=65534', 'resgid=65534'],
    });
  });

  it('undoes octal escapes, keeps tags, and takes an empty source', () => {
    expect(
      parseMountinfo('36 35 98:0 /a\\040b /mnt\\0112\\134\\043 rw,noatime shared:1 master:2 - fuse.x  rw\n'),
    ).toMatchObject([
      { root: '/a b', mountPoint: '/mnt\t2\\#', tags: ['shared:1', 'master:2'], type: 'fuse.x', source: '' },
    ]);
  });

  it('leaves out lines that are none', () => {
    expect(parseMountinfo('\n36 35 98:0 / /mnt rw\n- - - - - - - -\n36 35 98:0 / /mnt rw -')).toEqual([]);
  });
});

describe('overlayDirs', () => {
  it('finds the upper directory of each container of a pod', () => {
    const dirs = parseMountinfo(fixture('proc/shim-1.6.20/mountinfo-pod')).map(overlayDirs);
    const snapshots = '/var/lab/root/io.containerd.snapshotter.v1.overlayfs/snapshots';
    expect(dirs).toEqual([
      null,
      {
        lower: [`${snapshots}/1/fs`],
        upper: `${snapshots}/5/fs`,
        work: `${snapshots}/5/work`,
        volatile: false,
      },
      {
        lower: [`${snapshots}/1/fs`],
        upper: `${snapshots}/6/fs`,
        work: `${snapshots}/6/work`,
        volatile: false,
      },
    ]);
  });

  it('takes relative layers, a read-only overlay, volatile, escapes, and one option per layer', () => {
    const at = (options: string) => {
      const mount = overlay(options);
      return mount && overlayDirs(mount);
    };
    expect(at('ro,lowerdir=12/fs:11/fs')).toEqual({
      lower: ['12/fs', '11/fs'],
      upper: null,
      work: null,
      volatile: false,
    });
    expect(at('rw,lowerdir=/a\\134:b:/c\\040d\\054e,upperdir=/u\\134:v,workdir=/w,volatile')).toEqual({
      lower: ['/a:b', '/c d,e'],
      upper: '/u\\:v',
      work: '/w',
      volatile: true,
    });
    expect(at('rw,lowerdir+=/a:b,lowerdir+=/c,datadir+=/d')?.lower).toEqual(['/a:b', '/c', '/d']);
  });
});
