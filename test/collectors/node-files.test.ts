import { describe, expect, it } from 'vitest';
import { nodeFiles } from '../../src/collectors/node-files.ts';
import { createHost } from '../../src/host/linux.ts';
import { broughtBy, captureOn, textOf } from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

describe('the files of the node', () => {
  it('come from this machine as the kernel wrote them', async () => {
    const host = createHost();
    try {
      const brought = await broughtBy(nodeFiles, captureOn(host));
      expect(textOf(brought, 'node/meminfo')).toMatch(/^MemTotal: +\d+ kB\n/);
      expect(textOf(brought, 'node/version')).toMatch(/^Linux version /);
      // Read to its end: the kernel gives it in pieces of 4 kB.
      expect(textOf(brought, 'node/mountinfo')).toMatch(/\n$/);
      expect(textOf(brought, 'node/sysctl.txt')).toMatch(/^kernel\.pid_max = \d+$/m);
      const lacking = [...brought.values()].filter(({ outcome }) => !['ok', 'empty', 'absent'].includes(outcome));
      expect(lacking).toEqual([]);
    } finally {
      await host.close();
    }
  });

  it('never include the command line of the kernel', async () => {
    const paper = new PaperHost({ '/proc/cmdline': 'root=/dev/vda password=s3cret' });
    const brought = await broughtBy(nodeFiles, captureOn(paper.host));
    expect(paper.asked.map(({ path }) => path)).not.toContain('/proc/cmdline');
    expect([...brought.values()].map(({ body }) => body.toString()).join('')).not.toContain('s3cret');
  });

  it.each([
    ['the files are missing', { outcome: 'gone', detail: 'ENOENT' }],
    ['every read is refused (psi=0)', { outcome: 'error', detail: 'EOPNOTSUPP: operation not supported' }],
  ] as const)('are complete on a kernel without PSI, where %s', async (_, content) => {
    const paper = new PaperHost(
      Object.fromEntries(['cpu', 'io', 'memory'].map(name => [`/proc/pressure/${name}`, content])),
    );
    const brought = await broughtBy(nodeFiles, captureOn(paper.host));
    expect(brought.get('node/pressure/io')).toMatchObject({ outcome: 'absent' });
    expect(brought.get('node/pressure/io')?.detail).toContain('no pressure stall information');
  });

  it('are lacking when a file that every kernel has cannot be read', async () => {
    const paper = new PaperHost({
      '/proc/1/mountinfo': { outcome: 'timeout', detail: 'no answer for 1000 ms' },
      '/proc/sys/kernel/pid_max': { outcome: 'denied', detail: 'EACCES' },
    });
    const brought = await broughtBy(nodeFiles, captureOn(paper.host));
    expect(brought.get('node/diskstats')).toMatchObject({ outcome: 'gone' });
    expect(brought.get('node/mountinfo')).toMatchObject({ outcome: 'timeout', detail: 'no answer for 1000 ms' });
    expect(brought.get('node/sysctl.txt')).toMatchObject({ outcome: 'truncated' });
    expect(textOf(brought, 'node/sysctl.txt')).toBe('kernel.pid_max = (denied)\n');
  });
});
