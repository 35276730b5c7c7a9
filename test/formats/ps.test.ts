import { describe, expect, it } from 'vitest';
import { psArgs, psElapsed, psHeader, psIdWidth, psRow, psState, psWchan } from '../../src/formats/ps.ts';

const state = { state: 'S', nice: 0, pid: 10, session: 1, pgrp: 9, tpgid: -1, threads: 1, locked: false };
const row = { pid: 1, tid: 59, ppid: 0, stat: 'SLl', wchan: '-', etime: '17:38', args: '/init --x' };

describe('rows of ps', () => {
  it('have the columns of procps', () => {
    expect(psHeader(5)).toBe('  PID   TID  PPID STAT WCHAN                                ELAPSED COMMAND\n');
    expect(psRow(row, 5)).toBe('    1    59     0 SLl  -                                      17:38 /init --x\n');
    expect(psRow(row, 7)).toBe('      1      59       0 SLl  -                                      17:38 /init --x\n');
  });

  it('take their width from the largest pid', () => {
    expect(psIdWidth('32768\n')).toBe(5);
    expect(psIdWidth('4194304\n')).toBe(7);
    expect(psIdWidth('')).toBe(5);
  });

  it('make up for a column that is too wide as soon as they can', () => {
    const wide = psRow({ ...row, stat: 'S<Lsl+', wchan: 'x'.repeat(32) }, 5);
    expect(wide).toBe(`    1    59     0 S<Lsl+ ${'x'.repeat(32)}     17:38 /init --x\n`);
    expect(psRow({ ...row, stat: 'SNsl+' }, 5)).toBe(
      '    1    59     0 SNsl+ -                                     17:38 /init --x\n',
    );
  });

  it('tell the state as ps does', () => {
    expect(psState(state)).toBe('S');
    expect(psState({ ...state, nice: -20, session: 10, threads: 2, locked: true, pgrp: 5, tpgid: 5 })).toBe('S<Lsl+');
    expect(psState({ ...state, state: 'D', nice: 19 })).toBe('DN');
  });

  it('tell the wait channel as ps does', () => {
    expect(psWchan('0')).toBe('-');
    expect(psWchan(null)).toBe('?');
    expect(psWchan('__futex_wait')).toBe('futex_wait');
    expect(psWchan('.sys_epoll_wait')).toBe('sys_epoll_wait');
  });

  it('tell the age with as many fields as it needs', () => {
    expect([0, 59.9, 61, 3599, 3600, 86_399, 86_400, 100 * 86_400 + 1].map(psElapsed)).toEqual([
      '00:00',
      '00:59',
      '01:01',
      '59:59',
      '01:00:00',
      '23:59:59',
      '1-00:00:00',
      '100-00:00:01',
    ]);
    expect(psElapsed(-3)).toBe('00:00');
  });

  it('show arguments on one line, and the name in brackets where there are none', () => {
    expect(psArgs('sh\0-c\0a b\0', 'sh', 'S')).toBe('sh -c a b');
    expect(psArgs('x\0\x1b[31m\tred\0', 'x', 'S')).toBe('x ?[31m?red');
    expect(psArgs('sh\0-c\0cd /\nexec ls\n\0', 'sh', 'S')).toBe('sh -c cd / exec ls ');
    expect(psArgs('', 'kworker/0:1', 'I')).toBe('[kworker/0:1]');
    expect(psArgs(null, 'hung\n', 'D')).toBe('[hung?]');
    expect(psArgs('gone\0', 'gone', 'Z')).toBe('[gone] <defunct>');
  });

  it('take two million empty arguments in stride', () => {
    const began = performance.now();
    expect(psArgs(`${'\0'.repeat(2 << 20)}x\0`, 'x', 'S', 10)).toMatch(/^ {10} \[\.\.\. 2097143 more characters\]$/);
    // A pattern takes half an hour.
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('say how much of arguments they leave out', () => {
    expect(psArgs('java\0-cp\0xyz\0', 'java', 'S', 8)).toBe('java -cp [... 4 more characters]');
    expect(psArgs('java\0-cp\0', 'java', 'S', 8)).toBe('java -cp');
  });
});
