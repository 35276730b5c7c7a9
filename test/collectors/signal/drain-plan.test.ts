import { expect, test } from 'vitest';
import type { ContainerdSide } from '../../../src/collectors/signal/containerd-side.ts';
import type { Descriptor } from '../../../src/collectors/signal/descriptors.ts';
import { planDrain } from '../../../src/collectors/signal/drain-plan.ts';
import { placeOf, type Sink } from '../../../src/collectors/signal/sink.ts';
import type { RuntimeDaemon } from '../../../src/sandbox/types.ts';
import { BUNDLE, call, type LookText, look, SHIM } from './shim-look.ts';

const DAEMON: RuntimeDaemon = {
  kind: 'containerd',
  pid: 812,
  startTicks: '4000',
  exe: '/usr/bin/containerd',
  argv: ['/usr/bin/containerd'],
  procState: 'S',
  address: '/run/containerd/containerd.sock',
  root: '/var/lib/containerd',
  state: '/run/containerd',
};
const READS_LOG: Descriptor = { fd: 21, target: `${BUNDLE}/log`, reads: true, writes: true };
const FILE: Sink = {
  kind: 'file',
  writer: { pid: 812, fd: 2 },
  prefix: '',
  path: '/var/log/containerd.log',
  before: null,
  words: 'descriptor 2 of containerd 812 is /var/log/containerd.log',
  hung: null,
};
const WRITE = process.arch === 'arm64' ? 64 : 1;

const side = (looks: readonly LookText[] = [{}], descriptors: readonly Descriptor[] | null = [READS_LOG]) =>
  ({ daemon: DAEMON, looks: looks.map(text => look({ ...text, pid: 812 })), descriptors }) satisfies ContainerdSide;
const stuckIn = (syscall: string): LookText => ({ threads: [{}, { tid: 815, wchan: 'anon_pipe_write', syscall }] });

test('nobody else reads beside a containerd that is well', () => {
  expect(planDrain(SHIM, side(), FILE)).toMatchObject({ when: 'after', cause: null, rival: 'none' });
  expect(planDrain(SHIM, side([{}], null), FILE)).toMatchObject({ when: 'after' });
});

test('our reader comes first where there is none', () => {
  const dead = { daemon: null, looks: [], descriptors: null };
  expect(planDrain(SHIM, dead, FILE)).toMatchObject({ when: 'before', cause: 'no reader', rival: 'none' });
  const notOpened = side([{}], [{ ...READS_LOG, target: `${BUNDLE.replace(/[^/]+$/, 'ff'.repeat(32))}/log` }]);
  expect(planDrain(SHIM, notOpened, FILE)).toMatchObject({ when: 'before', cause: 'no reader' });
  const writesOnly = side([{}], [{ ...READS_LOG, reads: false }]);
  expect(planDrain(SHIM, writesOnly, FILE)).toMatchObject({ when: 'before', cause: 'no reader' });
});

test('our reader comes first where containerd is stopped in every look', () => {
  const stopped: LookText = { state: 'T', threads: [{ state: 'T' }] };
  expect(planDrain(SHIM, side([stopped, stopped]), FILE)).toMatchObject({
    when: 'before',
    cause: 'containerd not draining',
    why: 'containerd 812: it is stopped (T)',
  });
  expect(planDrain(SHIM, side([stopped, {}]), FILE)).toMatchObject({ when: 'after' });
});

test('a containerd that hangs in a write of its log is raced', () => {
  const blocked = stuckIn(call(WRITE, '0x2', '0xc000', '0x40'));
  expect(planDrain(SHIM, side([blocked, blocked, blocked]), FILE)).toMatchObject({
    when: 'race',
    cause: 'log sink hung',
    rival: 'reads once',
    why: 'containerd 812: thread 815 is blocked in write to descriptor 2 (S)',
  });
});

test('a write that ends, or goes elsewhere, is no hang', () => {
  const first = stuckIn(call(WRITE, '0x2', '0xc000', '0x40'));
  const next = stuckIn(call(WRITE, '0x2', '0xd000', '0x80'));
  const elsewhere = stuckIn(call(WRITE, '0x9', '0xc000', '0x40'));
  expect(planDrain(SHIM, side([first, next]), FILE)).toMatchObject({ when: 'after' });
  expect(planDrain(SHIM, side([elsewhere, elsewhere]), FILE)).toMatchObject({ when: 'after' });
});

test('a sink that hangs or keeps nothing is raced', () => {
  const hung: Sink = { ...FILE, hung: 'systemd-journald 301 is in state T' };
  expect(planDrain(SHIM, side(), hung)).toMatchObject({ when: 'race', cause: 'log sink hung', rival: 'reads on' });
  const none: Sink = { kind: 'none', words: 'descriptor 2 of containerd 812 is /dev/null', hung: null };
  expect(planDrain(SHIM, side(), none)).toMatchObject({ when: 'race', cause: 'log sink keeps nothing' });
});

test('the log of a v1 shim is thrown away by containerd, unless it was started with -debug', () => {
  const v1 = { ...SHIM, generation: 'v1' as const, argv: ['containerd-shim', '-namespace', 'moby'] };
  const log = [
    { ...READS_LOG, target: `/var/lib/containerd/io.containerd.runtime.v1.linux/moby/${SHIM.id}/shim.stdout.log` },
  ];
  expect(planDrain(v1, side([{}], log), FILE)).toMatchObject({ when: 'race', cause: 'log sink keeps nothing' });
  const debug = { ...v1, argv: [...v1.argv, '-debug'] };
  expect(planDrain(debug, side([{}], log), FILE)).toMatchObject({ when: 'after' });
});

test.each([
  ['/var/log/containerd.log', { kind: 'file', path: '/var/log/containerd.log' }],
  ['/var/log/containerd.log (deleted)', { kind: 'deleted-file', path: '/var/log/containerd.log' }],
  ['socket:[4711]', { kind: 'socket' }],
  ['pipe:[4711]', { kind: 'pipe' }],
  ['/dev/null', { kind: 'device', path: '/dev/null' }],
  ['/dev/pts/3', { kind: 'device', path: '/dev/pts/3' }],
  ['/dev/shm/containerd.log', { kind: 'file', path: '/dev/shm/containerd.log' }],
  ['anon_inode:[eventpoll]', { kind: 'other', target: 'anon_inode:[eventpoll]' }],
])('a descriptor on %s is told from the others', (target, place) => {
  expect(placeOf(target)).toEqual(place);
});
