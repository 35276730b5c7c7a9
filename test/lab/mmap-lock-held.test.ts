import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { bounded } from './run.ts';
import { mmapLockHeld } from './stalls/mmap-lock-held.ts';

const hangs = async (program: string, ...args: string[]) => !(await bounded(program, args, 500));

describe.skipIf(labUnavailable())('a process whose mmap_lock is held', () => {
  it('hangs ps and every reader of its command line, but not of its status', () =>
    during(mmapLockHeld(), async ({ pids: [pid = 0] }) => {
      expect(await hangs('cat', `/proc/${pid}/cmdline`)).toBe(true);
      // not maps: from Linux 6.17 on it is read under locks of its own
      expect(await hangs('cat', `/proc/${pid}/environ`)).toBe(true);
      expect(await hangs('ps', '-eo', 'pid,args')).toBe(true);
      expect(status(pid)?.comm).toBe('mmap-hostage');
      expect(await hangs('cat', `/proc/${pid}/stat`, `/proc/${pid}/wchan`)).toBe(false);
    }));

  it('can be had fifty times', () =>
    during(mmapLockHeld({ copies: 50 }), async ({ pids }) => {
      expect(new Set(pids).size).toBe(50);
    }));
});
