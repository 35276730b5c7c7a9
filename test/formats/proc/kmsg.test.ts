import { describe, expect, it } from 'vitest';
import { parseKmsg } from '../../../src/formats/proc/kmsg.ts';
import { fixture } from '../fixture.ts';

describe('parseKmsg', () => {
  it('reads the records of a 6.18 kernel', () => {
    const { records, unknown } = parseKmsg(fixture('kernel-log/hung-task-6.18.kmsg'));
    expect(unknown).toEqual([]);
    expect(records).toHaveLength(44);
    expect(records[0]).toEqual({
      severity: 3,
      facility: 0,
      sequence: 341,
      usec: 1156491106,
      caller: null,
      text: 'INFO: task touch:12180 blocked for more than 2 seconds.',
      fields: new Map(),
      line: 1,
    });
  });

  it('gives a record the lines that say which device it is about', () => {
    const { records } = parseKmsg(
      '5,333,1320425,-;virtio_blk virtio1: [vda] new size\n SUBSYSTEM=virtio\n DEVICE=+virtio:virtio1\n6,334,1320426,-,caller=T58;next\n',
    );
    expect(records.map(({ text, caller, line }) => [text, caller, line])).toEqual([
      ['virtio_blk virtio1: [vda] new size', null, 1],
      ['next', 'T58', 4],
    ]);
    expect([...(records[0]?.fields ?? [])]).toEqual([
      ['SUBSYSTEM', 'virtio'],
      ['DEVICE', '+virtio:virtio1'],
    ]);
  });

  it('undoes escapes, and tells programs that write to /dev/kmsg from the kernel', () => {
    const { records } = parseKmsg('30,1,2,-;caf\\xc3\\xa9 \\x5cx41 \\xff; a\n');
    expect(records[0]).toMatchObject({ severity: 6, facility: 3, text: 'café \\x41 \ufffd; a' });
  });

  it('keeps lines that are no records', () => {
    expect(parseKmsg(' A=b\nx\n1,2\n').unknown).toEqual([' A=b', 'x', '1,2']);
  });
});
