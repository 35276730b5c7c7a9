import { describe, expect, it } from 'vitest';
import { parseHungTask, parseLockWait } from '../../../src/formats/kernel-log/hung-task.ts';
import { kernelLines } from '../../../src/formats/kernel-log/kernel-lines.ts';
import { parseTaskHeading } from '../../../src/formats/kernel-log/task-heading.ts';
import { parseTraces } from '../../../src/formats/kernel-log/traces.ts';
import { fixture } from '../fixture.ts';

const CONTEXT = { year: 2026, utcOffset: 0 };
const tracesOf = (log: string, context = CONTEXT) => parseTraces(kernelLines(log, context));

describe('parseTaskHeading', () => {
  it.each([
    ['mysqld          D ffff98eb48645280     0 44333  39200 0x00000080', 'mysqld', 44333, 39200],
    ['dockerd         D ffff942b3fc5acc0     0  1658      1 0x00000080', 'dockerd', 1658, 1],
    ['containerd-shim D    0  4006      1 0x00000000', 'containerd-shim', 4006, 1],
    ['kworker/u8:2    D    0   123      2 0x80000000', 'kworker/u8:2', 123, 2],
    ['tmux: server    D    0   123      2 0x80000000', 'tmux: server', 123, 2],
    ['task:containerd-shim state:D stack:    0 pid:931118 ppid:     1 flags:0x00004002', 'containerd-shim', 931118, 1],
    ['task:containerd-shim state:D stack:    0 pid: 7663 ppid:     1 flags:0x00004002', 'containerd-shim', 7663, 1],
    ['task:sync            state:D stack:0     pid:1365  tgid:1365 ppid:1336   flags:0x00004002', 'sync', 1365, 1336],
    [
      'task:touch           state:D stack:0     pid:12180 tgid:12180 ppid:12168  task_flags:0x400000 flags:0x00080001',
      'touch',
      12180,
      12168,
    ],
    [
      'task:a state:D stack state:D stack:0     pid:7     tgid:7     ppid:1      flags:0x00004002',
      'a state:D stack',
      7,
      1,
    ],
  ])('reads %s', (line, comm, pid, ppid) => {
    expect(parseTaskHeading(line)).toMatchObject({ comm, pid, ppid, state: 'D' });
  });

  it('reads a task on a CPU', () => {
    expect(
      parseTaskHeading(
        'task:kworker/1:66    state:R  running task     stack:0     pid:4095  tgid:4095  ppid:2      task_flags:0x4208060 flags:0x00000000',
      ),
    ).toMatchObject({ comm: 'kworker/1:66', state: 'R', tgid: 4095 });
    expect(parseTaskHeading('bash            R  running task        0   700    699 0x00000008')).toMatchObject({
      pid: 700,
    });
  });

  it.each(['', 'Call Trace:', ' schedule+0x23/0xa0', 'x'.repeat(1_000_000), `task:${' '.repeat(1_000_000)}`])(
    'is not misled by other lines',
    line => expect(parseTaskHeading(line)).toBeNull(),
  );
});

describe('parseHungTask and parseLockWait', () => {
  it.each([
    ['INFO: task touch:12180 blocked for more than 2 seconds.', 'touch', 12180, 2],
    ['INFO: task jbd2/nvme2n1-8:6604 blocked for more than 122 seconds.', 'jbd2/nvme2n1-8', 6604, 122],
    ['INFO: task kworker/9:0:73 blocked for more than 120 seconds.', 'kworker/9:0', 73, 120],
    ['INFO: task a blocked b:7 blocked for more than 328 seconds. [Warning #2]', 'a blocked b', 7, 328],
  ])('reads %s', (line, comm, pid, seconds) => expect(parseHungTask(line)).toEqual({ comm, pid, seconds }));

  it('reads who waits for whose lock', () => {
    expect(parseLockWait('INFO: task cat:115 is blocked on a mutex likely owned by task kworker/1:66:114.')).toEqual({
      waiter: { comm: 'cat', pid: 115 },
      lock: 'mutex',
      owner: { comm: 'kworker/1:66', pid: 114 },
    });
    expect(
      parseLockWait(
        'INFO: task nvidia-smi:49301 <writer> blocked on an rw-semaphore likely owned by task VLLM::EngineCor:46249 <writer>',
      ),
    ).toEqual({
      waiter: { comm: 'nvidia-smi', pid: 49301 },
      lock: 'rw-semaphore',
      owner: { comm: 'VLLM::EngineCor', pid: 46249 },
    });
    expect(parseLockWait('INFO: task cat:115 is blocked on a mutex, but the owner is not found.')).toMatchObject({
      owner: null,
    });
  });

  it.each([
    '',
    'INFO: task',
    'INFO: task x blocked for more than 2 seconds.',
    'INFO: task x:y blocked on a ',
    `INFO: task ${':'.repeat(1_000_000)}`,
  ])('say null to other lines', line => {
    expect(parseHungTask(line)).toBeNull();
    expect(parseLockWait(line)).toBeNull();
  });
});

describe('parseTraces', () => {
  const symbols = [
    '__schedule',
    'schedule',
    'percpu_rwsem_wait',
    '__percpu_down_read',
    'mnt_want_write',
    'path_openat',
    'do_filp_open',
    'do_sys_openat2',
    '__x64_sys_openat',
    'do_syscall_64',
    'entry_SYSCALL_64_after_hwframe',
  ];
  const kmsg = fixture('kernel-log/hung-task-6.18.kmsg');
  const texts = kmsg
    .trimEnd()
    .split('\n')
    .map(line => line.slice(line.indexOf(';') + 1));

  it('reads a report of the hung task detector from /dev/kmsg', () => {
    const [trace, ...others] = tracesOf(kmsg, { ...CONTEXT, bootedAt: 1_000_000 } as typeof CONTEXT);
    expect(others).toEqual([]);
    expect(trace).toMatchObject({
      task: { comm: 'touch', pid: 12180, tgid: 12180, ppid: 12168, state: 'D' },
      hung: { comm: 'touch', pid: 12180, seconds: 2 },
      waitsFor: null,
      monotonic: 1156.491106,
      time: 1_000_000 + 1156491.106,
      line: 1,
      lastLine: 44,
    });
    expect(trace?.frames.map(frame => frame.symbol)).toEqual(symbols);
  });

  it.each([
    ['dmesg', (text: string) => `[ 1156.491106] ${text}`],
    ['dmesg -T', (text: string) => `[So Nov 15 15:59:41 2026] ${text}`],
    ['dmesg -x', (text: string) => `kern  :err   : [ 1156.491106] ${text}`],
    ['dmesg -e', (text: string) => `[  +0.000011] ${text}`],
    ['pstore', (text: string) => `<4>[2315424.100709] ${text}`],
    ['a kernel that prints the caller', (text: string) => `[  250.273999][   T58] ${text}`],
    ['syslog', (text: string) => `Nov 23 14:32:51 node-1 kernel: [387120.141130] ${text}`],
    ['syslog with a level', (text: string) => `2023-05-10 15:40:35 node-1 kernel[-] err: [  245.356952] ${text}`],
    ['a paste with line numbers', (text: string) => `66636 Jul 29 17:54:57 node-1 kernel: [341115.681608] ${text}`],
    ['journalctl -k', (text: string) => `Nov 23 14:32:51 node-1 kernel: ${text}`],
    ['a journal without stamps', (text: string) => `kernel: ${text}`],
    ['a bare paste', (text: string) => text],
  ])('reads the same from %s', (_, prefix) => {
    const [trace, ...others] = tracesOf(`${texts.map(prefix).join('\n')}\n`);
    expect(others).toEqual([]);
    expect(trace).toMatchObject({ task: { pid: 12180 }, hung: { seconds: 2 }, line: 1, lastLine: 44 });
    expect(trace?.frames.map(frame => frame.symbol)).toEqual(symbols);
  });

  it('reads frames with addresses, modules and build ids, without marks, up to the first other line', () => {
    const log = [
      '[ 10.000001] containerd-shim D    0  4006      1 0x00000000',
      '[ 10.000002] Call Trace:',
      '[ 10.000003]  [<ffffffffb9b871e9>] schedule+0x29/0x70',
      '[ 10.000004]  ? bit_wait+0x50/0x50',
      '[ 10.000005]  ovl_sync_fs+0x59/0x90 [overlay]',
      '[ 10.000006]  xfs_log_regrant+0xc2/0x1e0 [xfs 28bfed63550f2a10]',
      '[ 10.000007] [c000000629343540] [c0000000007623b4] xlog_grant_head_wait+0x84/0x420',
      '[ 10.000008] EXT4-fs (vda): re-mounted',
      '[ 10.000009]  schedule+0x29/0x70',
    ].join('\n');
    const [trace] = tracesOf(log);
    expect(trace).toMatchObject({ hung: null, line: 1, lastLine: 7 });
    expect(trace?.frames.map(({ symbol, module }) => [symbol, module])).toEqual([
      ['schedule', null],
      ['ovl_sync_fs', 'overlay'],
      ['xfs_log_regrant', 'xfs'],
      ['xlog_grant_head_wait', null],
    ]);
  });

  it('keeps two reports apart that two tasks print at once', () => {
    const one = texts.map(text => `[  250.273999][   T58] ${text}`);
    const other = texts.map(text => `[  250.273999][   T59] ${text.replaceAll('12180', '7')}`);
    const mixed = one.flatMap((line, index) => [line, other[index]]);
    const traces = tracesOf(mixed.join('\n'));
    expect(traces.map(trace => trace.task.pid)).toEqual([12180, 7]);
    for (const trace of traces) expect(trace.frames.map(frame => frame.symbol)).toEqual(symbols);
  });

  it('skips what others print in the middle, where the kernel marks the end', () => {
    const noisy = texts.flatMap(text => (text.includes('path_openat') ? [text, 'EXT4-fs (vda): re-mounted'] : [text]));
    expect(tracesOf(noisy.join('\n'))[0]?.frames.map(frame => frame.symbol)).toEqual(symbols);
  });

  it('says whose lock a task waits for', () => {
    const log = [
      ...texts,
      'INFO: task touch:12180 is blocked on a mutex likely owned by task dd:44.',
      'task:dd              state:D stack:0     pid:44    tgid:44    ppid:1      flags:0x00004002',
      'Call Trace:',
      ' <TASK>',
      ' schedule+0x23/0xa0',
      ' </TASK>',
    ].join('\n');
    expect(tracesOf(log)).toMatchObject([
      { task: { pid: 12180 }, waitsFor: { lock: 'mutex', owner: { comm: 'dd', pid: 44 } } },
      { task: { pid: 44 }, hung: null, waitsFor: null, frames: [{ symbol: 'schedule' }] },
    ]);
  });

  it('has nothing to say about an empty log, or lines of 1 MB', () => {
    expect(tracesOf('')).toEqual([]);
    for (const seed of ['[', ' ', 'a+0x1/', 'task:', 'kernel: ', ':', '<4>']) {
      expect(tracesOf(`${texts.slice(0, 5).join('\n')}\n${seed.repeat(1_000_000 / seed.length)}\n`)).toHaveLength(1);
    }
  });
});
