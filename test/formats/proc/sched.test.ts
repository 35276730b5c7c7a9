import { describe, expect, it } from 'vitest';
import { execStartMs } from '../../../src/formats/proc/sched.ts';
import { fixture } from '../fixture.ts';

describe('sched', () => {
  it('reads the value below the rule', () => {
    expect(execStartMs(fixture('proc/frozen-touch/sched'))).toBe(1151025.290813);
  });

  it('is not misled by a name that looks like a value', () => {
    const text = fixture('proc/frozen-touch/sched').replace(/^touch/, '\nse.exec_start:1.0\nx');
    expect(execStartMs(text)).toBe(1151025.290813);
  });

  it('says null for a thread that never ran, for an old kernel and for a file that could not be read', () => {
    const text = fixture('proc/frozen-touch/sched');
    expect(execStartMs(text.replace('1151025.290813', '0.000000'))).toBeNull();
    expect(execStartMs('')).toBeNull();
    expect(execStartMs(text.replace('se.exec_start', 'exec_max'))).toBeNull();
  });
});
