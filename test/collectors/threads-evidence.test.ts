import { describe, expect, it } from 'vitest';
import { sameProcess, threadsEvidence, unlessEnded } from '../../src/collectors/threads-evidence.ts';
import type { ProcessLook, ThreadLook } from '../../src/host/port.ts';
import { look, SHIM } from './signal/shim-look.ts';

const withErrors = (errors: ThreadLook['errors']): ProcessLook => ({
  ...look(),
  threads: look().threads.map(thread => ({ ...thread, stack: errors['stack'] === undefined ? '' : null, errors })),
});

describe('threads as evidence', () => {
  it('are whole when each of them could be read', () => {
    const evidence = threadsEvidence('shim/threads-1.txt', [look()]);
    expect(evidence).toMatchObject({ outcome: 'ok', at: { offsetMs: 0, durationMs: 1 } });
    expect(evidence.detail).toBeUndefined();
    expect(evidence.source).toBe('/proc/2430/task/*/{stat,wchan,sched,syscall,stack}');
  });

  it('are absent in part where the kernel has no stack file, and their states are kept', () => {
    const evidence = threadsEvidence('shim/threads-1.txt', [withErrors({ stack: 'ENOENT' })]);
    expect(evidence).toMatchObject({ outcome: 'absent', detail: expect.stringContaining('CONFIG_STACKTRACE') });
    expect(evidence.body.toString()).toContain('===== 2430 containerd-shim S futex_do_wait =====');
  });

  it('name the right that is missing', () => {
    const stack: ProcessLook = {
      ...withErrors({ stack: 'EACCES' }),
      outcome: 'denied',
      detail: 'EACCES: needs CAP_SYS_ADMIN',
    };
    expect(threadsEvidence('x', [stack])).toMatchObject({
      outcome: 'denied',
      detail: '2430: EACCES: needs CAP_SYS_ADMIN',
    });
    expect(threadsEvidence('x', [withErrors({ syscall: 'EPERM' })])).toMatchObject({
      outcome: 'denied',
      detail: expect.stringContaining('CAP_SYS_PTRACE'),
    });
  });

  it('of several processes are as bad as the worst of them, one that ended in between aside', () => {
    const gone: ProcessLook = { ...look({ pid: 77 }), threads: [], stat: null, outcome: 'gone', detail: 'ESRCH' };
    const hung: ProcessLook = { ...gone, pid: 78, outcome: 'timeout', detail: 'stat did not answer' };
    expect(threadsEvidence('x', [look(), gone]).outcome).toBe('gone');
    const evidence = threadsEvidence('x', [look(), gone, hung]);
    expect(evidence).toMatchObject({ outcome: 'timeout', detail: '77: ESRCH; 78: stat did not answer' });
  });

  it('of a process that has ended and was not waited for are no longer its, though a zombie is there', () => {
    const all = (state: string) => ({
      ...look(),
      threads: look().threads.map(thread => ({
        ...thread,
        stat: thread.stat?.replace(/\) \w /, `) ${state} `) ?? null,
      })),
    });
    expect(unlessEnded(look())).toEqual(look());
    expect(unlessEnded(all('Z'))).toMatchObject({ outcome: 'gone', detail: expect.stringContaining('zombie') });
    // A leader that has ended while another thread goes on.
    const one = { ...all('Z'), threads: [...all('Z').threads, ...look().threads] };
    expect(unlessEnded(one)).toEqual(one);
  });

  it('are not those of a process that has the pid now', () => {
    expect(sameProcess(look(), SHIM.startTicks)).toEqual(look());
    expect(sameProcess(look(), null)).toEqual(look());
    expect(sameProcess(look({ startTicks: '1' }), SHIM.startTicks)).toMatchObject({ outcome: 'gone', threads: [] });
  });
});
