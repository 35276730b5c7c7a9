import { describe, expect, it } from 'vitest';
import { hasOurDump } from '../../../src/host/probe/our-dump.ts';

const END = '=== END goroutine stack dump ===';
const dump = (time: string) =>
  `time="${time}" level=info msg="=== BEGIN goroutine stack dump ===\\ngoroutine 1\\n${END}" namespace=k8s.io\n`;
const signalled = Date.parse('2024-05-01T12:00:00.500Z');
const has = (log: string) => hasOurDump(Buffer.from(log), END, signalled);

describe('our dump in the log of a shim', () => {
  it('is one whose time is not before the signal', () => {
    expect(has(dump('2024-05-01T12:00:00.499999999Z'))).toBe(false);
    expect(has(dump('2024-05-01T12:00:00.500000001Z'))).toBe(true);
    expect(has(dump('2024-05-01T14:00:00.6+02:00'))).toBe(true);
    expect(has(dump('2024-05-01T11:59:00Z') + dump('2024-05-01T12:00:01Z'))).toBe(true);
  });

  it('may be written in the second of the signal when the shim writes no fraction', () => {
    expect(has(dump('2024-05-01T12:00:00Z'))).toBe(true);
    expect(has(dump('2024-05-01T11:59:59Z'))).toBe(false);
  });

  it('is not there before the end of its line', () => {
    const whole = dump('2024-05-01T12:00:01Z');
    expect(has(whole.slice(0, whole.indexOf(END) + END.length))).toBe(false);
    expect(has(whole.slice(0, -1))).toBe(false);
    expect(has('')).toBe(false);
  });

  it('counts where the line tells no time: nothing says that it is old', () => {
    expect(has(`${END}\n`)).toBe(true);
  });
});
