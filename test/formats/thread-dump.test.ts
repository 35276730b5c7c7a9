import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuClock } from '../../src/formats/proc/cpu-clocks.ts';
import { parseThreadDump, processBlocks, threadBlock } from '../../src/formats/thread-dump.ts';
import type { ProcessLook, ThreadLook } from '../../src/host/port.ts';

const sched = (ms: string, comm = 'containerd-shim') =>
  `${comm} (2630, #threads: 12)\n-------------------------------------------------------------------\n` +
  `se.exec_start                                :        ${ms}\nse.vruntime                                  :            11.441053\n`;
const stat = (tid: number, comm: string, state: string) =>
  `${tid} (${comm}) ${state} 1 2430 1071 0 -1 4194304 2562 4422 0 1 241 77 2 2 20 0 12 0 92680 1574313984 3554 ${'0 '.repeat(14)}3 0 0 0\n`;
const clock = (ms: string, cpu = 3) => ({ cpu, clockMs: Number(ms), uptimeMs: 800_000 });

const blocked: ThreadLook = {
  tid: 2630,
  stat: stat(2630, 'containerd-shim', 'D'),
  wchan: 'wb_wait_for_completion',
  sched: sched('683403.138308'),
  syscall: '166 0xc000300120 0x0 0x0 0x0 0x0 0x0 0x7ffe7f454168 0x7f1577b612ad\n',
  stack: '[<0>] wb_wait_for_completion+0x81/0xb0\n[<0>] ovl_sync_fs+0x59/0x90 [overlay]\n',
  errors: {},
};

describe('threadBlock', () => {
  it('prints the heading of the runbooks, the syscall line and the stack lines', () => {
    expect(threadBlock(blocked, clock('703603.238308'))).toBe(
      '===== 2630 containerd-shim D wb_wait_for_completion blocked for 20.2 =====\n' +
        '166 0xc000300120 0x0 0x0 0x0 0x0 0x0 0x7ffe7f454168 0x7f1577b612ad\n' +
        '[<0>] wb_wait_for_completion+0x81/0xb0\n' +
        '[<0>] ovl_sync_fs+0x59/0x90 [overlay]\n',
    );
  });

  it('says nothing of an age that the kernel does not tell', () => {
    expect(threadBlock({ ...blocked, sched: null, errors: { sched: 'ENOENT' } }, clock('703603.238308'))).toMatch(
      /^===== 2630 containerd-shim D wb_wait_for_completion =====\n166 [^(]*$/,
    );
    expect(threadBlock(blocked, null)).not.toContain('blocked for');
    expect(threadBlock(blocked, clock('703603.238308', 2))).not.toContain('blocked for');
  });

  it('keeps a wait channel of 0', () => {
    expect(threadBlock({ ...blocked, wchan: '0' }, null)).toMatch(/^===== 2630 containerd-shim D 0 =====\n/);
  });

  it('says for each file why it could not be read', () => {
    const look: ThreadLook = {
      tid: 7,
      stat: null,
      wchan: null,
      sched: null,
      syscall: null,
      stack: null,
      errors: { syscall: 'EACCES', stack: 'EPERM', stat: 'ESRCH', sched: 'EACCES' },
    };
    expect(threadBlock(look, null)).toBe(
      '===== 7 ? ? ? =====\n(syscall: EACCES)\n(stack: EPERM)\n(stat: ESRCH)\n(wchan: not read)\n(sched: EACCES)\n',
    );
  });

  it('cannot be forged by a name with headings, line ends and escape sequences in it', () => {
    const comm = 'x) D 0\n===== 1 init S 0 =====\n\x1b[2J \\n ?';
    const text = threadBlock({ ...blocked, stat: stat(2630, comm, 'S') }, null);
    expect(text.split('\n')).toHaveLength(5);
    const dump = parseThreadDump(text);
    expect(dump.threads.map(thread => thread.comm)).toEqual([comm]);
  });

  it('takes a name of 100 kB', () => {
    const comm = ' \n=\\\u202e'.repeat(20_000);
    expect(parseThreadDump(threadBlock({ ...blocked, stat: stat(2630, comm, 'S') }, null)).threads[0]?.comm).toBe(comm);
  });
});

describe('processBlocks and parseThreadDump', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 });
  const comm = fc.oneof(
    text,
    fc.constantFrom('?', '', 'a) S 1 (b', '===== 1 a S 0 =====', '# process 1 a', '\n', 'tmux: server', '\\e'),
  );
  const line = fc.oneof(
    text.map(value => value.replaceAll('\n', ' ')).filter(value => value !== ''),
    fc.constantFrom('(stack: EACCES)', '===== 1 a S 0 =====', '# process 1 a', '[<0>] f+0x1/0x2 [m]', '\\x28'),
  );
  const ms = fc.nat().map(value => `${Math.floor(value / 1000) + 1}.${String(value % 1000).padStart(6, '0')}`);
  const errno = fc.constantFrom('EACCES', 'ENOENT', 'ESRCH', 'EPERM');

  const thread = fc.record({
    tid: fc.nat(),
    comm: fc.option(comm),
    state: fc.constantFrom('R', 'S', 'D', 'T', 'Z'),
    wchan: fc.option(fc.oneof(fc.constantFrom('0', '-', '?', 'futex_wait_queue'), text)),
    exec: fc.option(ms),
    syscall: fc.option(line.map(value => value.trim()).filter(value => value !== '')),
    stack: fc.option(fc.array(line)),
    errno,
  });
  type Thread = typeof thread extends fc.Arbitrary<infer T> ? T : never;

  const look = ({ tid, comm, state, wchan, exec, syscall, stack, errno }: Thread): ThreadLook => ({
    tid,
    stat: comm === null ? null : stat(tid, comm, state),
    wchan,
    sched: exec === null ? null : sched(exec),
    syscall: syscall === null ? null : `${syscall}\n`,
    stack: stack === null ? null : stack.map(value => `${value}\n`).join(''),
    errors: {
      ...(comm === null && { stat: errno }),
      ...(wchan === null && { wchan: errno }),
      ...(syscall === null && { syscall: errno }),
      ...(stack === null && { stack: errno }),
    },
  });

  it('give back every value, whatever the names and lines hold', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ pid: fc.nat(), comm: fc.option(comm), threads: fc.array(thread, { maxLength: 4 }) })),
        ms,
        (processes, own) => {
          const written = processes
            .map(
              ({ pid, comm, threads }): ProcessLook => ({
                pid,
                comm: comm === null ? null : comm.trimEnd(),
                status: null,
                stat: null,
                cwd: null,
                threads: threads.map(look),
                clock: clock(own),
                offsetMs: 0,
                durationMs: 0,
                outcome: comm === null ? 'denied' : 'ok',
                ...(comm === null && { detail: 'EACCES: )\n' }),
              }),
            )
            .map(process => processBlocks(process))
            .join('');
          const dump = parseThreadDump(written);
          expect(dump.unknown).toEqual([]);
          expect(dump.processes.map(({ line, ...rest }) => rest)).toEqual(
            processes.map(({ pid, comm }) => ({
              pid,
              comm: comm === null ? null : comm.trimEnd(),
              outcome: comm === null ? 'denied' : 'ok',
              detail: comm === null ? 'EACCES: )\n' : null,
            })),
          );
          expect(dump.threads.map(({ line, ...rest }) => rest)).toEqual(
            processes.flatMap(({ pid, threads }) =>
              threads.map(value => ({
                pid,
                tid: value.tid,
                comm: value.comm,
                state: value.comm === null ? null : value.state,
                wchan: value.wchan === null ? null : value.wchan.trim(),
                blockedForSeconds:
                  value.exec === null || value.comm === null
                    ? null
                    : Number((Math.max(0, Number(own) - Number(value.exec)) / 1000).toFixed(1)),
                syscall: value.syscall,
                stack: value.stack,
                errors: look(value).errors,
              })),
            ),
          );
          for (const { line, tid } of dump.threads) {
            expect(written.split('\n')[line - 1]).toMatch(new RegExp(`^===== ${tid} `));
          }
        },
      ),
    );
  });

  it('read this very process from /proc', () => {
    const at = (file: string) => readFileSync(`/proc/self/${file}`, 'utf8');
    const self: ThreadLook = {
      tid: process.pid,
      stat: at('stat'),
      wchan: at('wchan'),
      sched: at('sched'),
      syscall: at('syscall'),
      stack: null,
      errors: { stack: 'EACCES' },
    };
    const [read] = parseThreadDump(threadBlock(self, cpuClock(at('stat'), at('sched'), at('../uptime')))).threads;
    expect(read?.tid).toBe(process.pid);
    expect(read?.state).toBe('R');
    expect(read?.wchan).toBe('0');
    expect(read?.blockedForSeconds).toBeLessThan(5);
  });

  it('keep what stands before a cut, and lines that belong to no block', () => {
    const whole = threadBlock(blocked, null);
    expect(parseThreadDump(`stray\n${whole.slice(0, -'/0x90 [overlay]\n'.length)}`)).toMatchObject({
      unknown: ['stray'],
      threads: [{ tid: 2630, stack: ['[<0>] wb_wait_for_completion+0x81/0xb0', '[<0>] ovl_sync_fs+0x59'] }],
    });
  });

  it('stay linear on lines of 1 MB', () => {
    for (const seed of ['(', '===== 1 a', '# process 1 a: b ', '-', ' ', '\\x']) {
      const line = seed.repeat(Math.ceil(1_000_000 / seed.length));
      expect(parseThreadDump(line).threads).toEqual([]);
      expect(parseThreadDump(`===== 1 a S 0 =====\n${line}`).threads).toHaveLength(1);
    }
  });
});
