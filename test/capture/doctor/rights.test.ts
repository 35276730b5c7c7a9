import { describe, expect, it } from 'vitest';
import { rights } from '../../../src/capture/doctor/rights.ts';
import { PaperHost } from '../../collectors/paper-host.ts';

/** Bits of linux/capability.h. */
const BITS = { DAC_OVERRIDE: 1n, DAC_READ_SEARCH: 2n, KILL: 5n, SYS_PTRACE: 19n, SYS_ADMIN: 21n, SYSLOG: 34n };
const ALL = (1n << 41n) - 1n;
const NODE = { '/proc/1/comm': 'systemd\n', '/proc/2/comm': 'kthreadd\n' };

const status = (capabilities: bigint, uid = 0) =>
  `Name:\tstallcap\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nCapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\n` +
  `CapEff:\t${capabilities.toString(16).padStart(16, '0')}\n`;
const without = (...names: readonly (keyof typeof BITS)[]) =>
  names.reduce((left, name) => left & ~(1n << BITS[name]), ALL);
const lacking = (files: Readonly<Record<string, string>>) =>
  rights(new PaperHost(files).host).filter(({ outcome }) => outcome !== 'ok');

describe('rights', () => {
  it('are all there for root', () => {
    expect(lacking({ ...NODE, '/proc/self/status': status(ALL) })).toEqual([]);
  });

  it.each([
    ['SYS_PTRACE', /^CAP_SYS_PTRACE is missing: links, descriptors and system calls of other processes are denied$/],
    ['SYS_ADMIN', /^CAP_SYS_ADMIN is missing: kernel stacks are denied$/],
    ['SYSLOG', /^CAP_SYSLOG is missing: the kernel's log may be denied$/],
    ['KILL', /^CAP_KILL is missing: /],
  ] as const)('without CAP_%s say what a grab then lacks', (name, says) => {
    expect(lacking({ ...NODE, '/proc/self/status': status(without(name), 1000) })).toEqual([
      {
        name: `cap-${name.toLowerCase().replaceAll('_', '-')}`,
        outcome: 'lacks',
        says: expect.stringMatching(says),
        next: 'Run it as root.',
      },
    ]);
  });

  it('that root lacks are not got by sudo', () => {
    const [missing] = lacking({ ...NODE, '/proc/self/status': status(without('SYS_ADMIN'), 0) });
    expect(missing?.next).toMatch(/privileged/);
  });

  it('to read what others may not come from either of two capabilities', () => {
    const one = { ...NODE, '/proc/self/status': status(without('DAC_READ_SEARCH')) };
    expect(lacking(one)).toEqual([]);
    const none = { ...NODE, '/proc/self/status': status(without('DAC_READ_SEARCH', 'DAC_OVERRIDE')) };
    expect(lacking(none).map(({ name }) => name)).toEqual(['cap-dac-read-search']);
  });

  it('end at a Yama that forbids to attach, for root as well', () => {
    const node = { ...NODE, '/proc/self/status': status(ALL) };
    const yama = (scope: number) => lacking({ ...node, '/proc/sys/kernel/yama/ptrace_scope': `${scope}\n` });
    expect(yama(1)).toEqual([]);
    expect(yama(3)).toEqual([expect.objectContaining({ name: 'ptrace-scope', outcome: 'lacks' })]);
  });

  it('to see others are missing where /proc hides pid 1', () => {
    const found = lacking({ '/proc/self/status': status(ALL, 1000) });
    expect(found).toEqual([
      expect.objectContaining({
        name: 'processes',
        outcome: 'lacks',
        says: expect.stringMatching(/uid 1000 \(hidepid/),
      }),
    ]);
  });

  it('do not reach out of a pid namespace: a container without hostPID', () => {
    const inside = { '/proc/1/comm': 'sh\n', '/proc/2/comm': 'sleep\n', '/proc/self/status': status(ALL) };
    expect(lacking(inside)).toEqual([
      expect.objectContaining({ name: 'processes', outcome: 'warn', next: expect.stringMatching(/hostPID/) }),
    ]);
  });
});
