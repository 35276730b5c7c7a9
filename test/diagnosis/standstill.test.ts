import { describe, expect, it } from 'vitest';
import { frameOf, sleepsIn, stackHas, standstill } from '../../src/diagnosis/standstill.ts';
import { threadOf } from './facts-of.ts';

describe('standstill', () => {
  it('takes the age of a thread that never moved from the clock of the scheduler', () => {
    expect(standstill(threadOf({ blockedForMs: 20_200 }))).toMatchObject({ ageMs: 20_200, proof: 'looks' });
  });

  it('takes it from the looks where the kernel has no such clock', () => {
    expect(standstill(threadOf({ blockedForMs: null, seenForMs: 3000 }))).toMatchObject({
      ageMs: 3000,
      proof: 'looks',
    });
  });

  it('knows of a thread seen once only what the clock says', () => {
    expect(standstill(threadOf({ moved: 'once', blockedForMs: 9000 }))).toMatchObject({ proof: 'clock' });
    expect(standstill(threadOf({ moved: 'once', blockedForMs: null }))).toBeNull();
  });

  it('says nothing of a thread that moved, however long it has not run now', () => {
    expect(standstill(threadOf({ moved: 'moved', blockedForMs: 20_000 }))).toBeNull();
  });
});

describe('the stack of a thread', () => {
  const thread = threadOf({
    stack: `[<0>] schedule+0x2a/0xe0
[<0>] wb_wait_for_completion+0x81/0xb0
[<0>] ovl_sync_fs+0x59/0x90 [overlay]
[<0>] generic_shutdown_super+0x35/0x150
[<0>] cleanup_mnt+0xbe/0x150`,
  });

  it('has functions in their order, others between them', () => {
    expect(stackHas(thread, ['ovl_sync_fs', 'cleanup_mnt'])).toBe(true);
    expect(stackHas(thread, ['cleanup_mnt', 'ovl_sync_fs'])).toBe(false);
    expect(stackHas(thread, [/^ovl_/, 'ksys_sync'])).toBe(false);
    expect(stackHas(threadOf({ stack: null }), ['ovl_sync_fs'])).toBe(false);
  });

  it('says where the thread sleeps, the scheduler left out', () => {
    expect(sleepsIn(thread)).toBe('wb_wait_for_completion');
    const arm = `[<0>] __switch_to+0xe4/0x160\n[<0>] __schedule+0x2f0/0x8c0\n[<0>] wb_wait_for_completion+0x81/0xb0`;
    expect(sleepsIn(threadOf({ stack: arm }))).toBe('wb_wait_for_completion');
    expect(sleepsIn(threadOf({ stack: null, wchan: 'rwsem_down_read_slowpath' }))).toBe('rwsem_down_read_slowpath');
  });

  it('gives the line of a frame', () => {
    expect(frameOf(thread, 'ovl_sync_fs')).toMatchObject({ module: 'overlay', line: 5 });
  });
});
