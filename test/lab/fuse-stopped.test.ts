import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status, threads } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { bounded } from './run.ts';
import { fuseStopped } from './stalls/fuse-stopped.ts';

describe.skipIf(labUnavailable())('a FUSE daemon that is stopped in the middle of a read', () => {
  it('holds the reader in D, and SIGKILL does not end it', () =>
    during(fuseStopped({ status: '{}' }), async ({ fuse, readerPid }) => {
      await sleep(500);
      expect(status(readerPid)?.state).toBe('D');
      expect(threads(readerPid)[0]?.wchan).toBe('request_wait_answer');
      expect(readdirSync(fuse.backing).sort()).toEqual(['asked', 'status']);
      expect(await bounded('cat', [`${fuse.point}/status`], 300)).toBe(false);
    }));
});
