import { describe, expect, it } from 'vitest';
import { concatenate } from '../../src/collectors/concatenate.ts';
import type { FileResult } from '../../src/host/port.ts';

const read = (path: string, text: string, outcome: FileResult['outcome'] = 'ok', detail?: string): FileResult => ({
  path,
  outcome,
  body: Buffer.from(text),
  offsetMs: 10,
  durationMs: 2,
  ...(detail === undefined ? {} : { detail }),
});

describe('many small files as one entry', () => {
  it('stand below headings as tail prints them, each with a line end of its own', () => {
    const evidence = concatenate('node/x.txt', '/sys', [
      read('/sys/a', '1\n'),
      read('/sys/b', ''),
      read('/sys/c', '3'),
    ]);
    expect(evidence.body.toString()).toBe('==> /sys/a <==\n1\n\n==> /sys/b <==\n\n==> /sys/c <==\n3\n');
    expect(evidence).toMatchObject({ outcome: 'ok', at: { offsetMs: 10, durationMs: 2 } });
  });

  it('leave out what this kernel does not have', () => {
    const evidence = concatenate('x', '/sys', [read('/sys/a', '', 'gone'), read('/sys/b', '2\n')]);
    expect(evidence.body.toString()).toBe('==> /sys/b <==\n2\n');
    expect(evidence.outcome).toBe('ok');
  });

  it('are truncated when one of them hung, which is said in its place and in the detail', () => {
    const evidence = concatenate('x', '/sys', [read('/sys/a', '1\n'), read('/sys/b', '', 'timeout', 'no answer')]);
    expect(evidence.body.toString()).toContain('==> /sys/b <==\n(not whole: timeout, no answer)\n');
    expect(evidence.outcome).toBe('truncated');
    expect(evidence.detail).toBe('1 of 2 files not whole, first /sys/b: timeout, no answer');
  });

  it('are absent when none exists', () => {
    expect(concatenate('x', '/sys', [read('/sys/a', '', 'gone')])).toMatchObject({ outcome: 'absent' });
    expect(concatenate('x', '/sys', [])).toMatchObject({ outcome: 'absent' });
  });

  it('keep bytes that are no UTF-8', () => {
    const body = Buffer.from([0xff, 0xfe, 0x0a]);
    expect(concatenate('x', '/sys', [{ ...read('/sys/a', ''), body }]).body).toEqual(
      Buffer.concat([Buffer.from('==> /sys/a <==\n'), body]),
    );
  });
});
