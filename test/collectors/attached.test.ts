import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attached } from '../../src/collectors/attached.ts';
import { parseListing, timesOf } from '../../src/diagnosis/facts/listing.ts';
import { createHost } from '../../src/host/linux.ts';
import { broughtBy, captureOn, POD, textOf } from './capture-on.ts';

describe('what the user attaches', () => {
  it('is taken as it is, with the time it was written at, under a name of its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stallcap-attached-'));
    const host = createHost();
    try {
      const at = (name: string) => join(folder, name);
      writeFileSync(at('describe.txt'), 'Name: web-0\n');
      execFileSync('mkdir', [at('b')]);
      writeFileSync(at('b/describe.txt'), 'Name: web-1\n');
      execFileSync('touch', ['-d', '2026-11-29T11:42:30Z', at('describe.txt')]);
      symlinkSync(at('describe.txt'), at('files.txt'));
      execFileSync('mkfifo', [at('events')]);
      const attach = ['describe.txt', 'b/describe.txt', 'files.txt', 'events', 'absent'].map(at);
      const brought = await broughtBy(attached, captureOn(host, { sandbox: POD, options: { attach } }));
      expect(textOf(brought, 'attached/describe.txt')).toBe('Name: web-0\n');
      expect(textOf(brought, 'attached/2-describe.txt')).toBe('Name: web-1\n');
      // A link is what it leads to, and the name of the list is taken.
      expect(textOf(brought, 'attached/2-files.txt')).toBe('Name: web-0\n');
      // What nobody will ever write to hangs nobody.
      expect(brought.get('attached/events')?.outcome).toBe('error');
      expect(brought.get('attached/absent')?.outcome).toBe('gone');
      const listed = parseListing('attached/files.txt', textOf(brought, 'attached/files.txt'));
      expect(timesOf(listed, 'describe.txt')?.mtime).toBe(Date.UTC(2026, 10, 29, 11, 42, 30));
    } finally {
      await host.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('is asked for only when something is', () => {
    const { options } = captureOn(createHost());
    expect(attached.onRequest?.(options)).toBe(false);
    expect(attached.onRequest?.({ ...options, attach: ['/x'] })).toBe(true);
  });
});
