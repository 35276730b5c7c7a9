import { expect, test } from 'vitest';
import { threadBlock } from '../../src/formats/thread-dump.ts';
import { blockedThreads } from '../../src/report/blocked.ts';

/** One thread as it is written into a dump; hand-written values in the layout of proc(5). */
function block(thread: { tid: number; comm?: string; state: string; wchan: string; syscall: string; stack?: string }) {
  const { tid, comm = 'containerd-shim', state, wchan, syscall, stack = `[<0>] ${wchan}+0x1/0x2\n` } = thread;
  const stat = `${tid} (${comm}) ${state} ${['1', ...Array(48).fill('0')].join(' ')}\n`;
  return threadBlock({ tid, stat, wchan, sched: null, syscall: `${syscall}\n`, stack, errors: {} }, null);
}

const args = '0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc 0x65d8';
const umount = { tid: 12, state: 'D', wchan: 'wb_wait_for_completion', syscall: `166 ${args}` };
const idle = { tid: 11, state: 'S', wchan: 'futex_do_wait', syscall: `202 ${args}` };
const dump = (...threads: Parameters<typeof block>[0][]) =>
  `# process 11 ${threads[0]?.comm ?? 'containerd-shim'}\n${threads.map(block).join('')}`;

test('a thread in the same call with the same stack in all looks is blocked; idle threads are not', () => {
  const dumps = new Map([1, 2, 3].map(look => [`shim/threads-${look}.txt`, dump(idle, umount)]));
  expect(blockedThreads(dumps, 'x64')).toMatchObject([
    { pid: 11, tid: 12, syscall: 'umount2', wchan: 'wb_wait_for_completion', where: 'shim', seen: 3, looks: 3 },
  ]);
});

test('a thread in D in one look only waited for something that came', () => {
  const dumps = new Map([
    ['shim/threads-1.txt', dump(idle, { ...umount, tid: 11, syscall: `257 ${args}` })],
    ['shim/threads-2.txt', dump({ ...umount, tid: 11 })],
  ]);
  expect(blockedThreads(dumps, 'x64')).toEqual([]);
});

test('runc init asleep in a FUSE request counts, though its state is S; an application in a socket does not', () => {
  const runc = { tid: 20, comm: 'runc:[2:INIT]', state: 'S', wchan: 'request_wait_answer', syscall: `262 ${args}` };
  const app = { tid: 30, comm: 'nginx', state: 'S', wchan: 'tcp_recvmsg_locked', syscall: `45 ${args}` };
  const dumps = new Map([
    ['shim/children-1.txt', dump(runc)],
    ['shim/children-2.txt', dump(runc)],
    ['containers/ab/threads-1.txt', dump(app)],
    ['containers/ab/threads-2.txt', dump(app)],
  ]);
  expect(blockedThreads(dumps, 'x64')).toMatchObject([
    { comm: 'runc:[2:INIT]', syscall: 'newfstatat', where: 'shim children' },
  ]);
});

test('calls are named by the architecture of the node that the bundle is of', () => {
  const dumps = new Map([['shim/threads-1.txt', dump({ ...umount, syscall: `39 ${args}` })]]);
  expect(blockedThreads(dumps, 'aarch64')).toMatchObject([{ syscall: 'umount2' }]);
});
