import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShimGoroutines } from '../../../src/diagnosis/facts.ts';
import { SHIM_PID } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { factsOfMade } from '../made-bundle.ts';

const DUMPS = join(import.meta.dirname, '../../fixtures/goroutines');

function dumpOf(text: string, entries: Readonly<Record<string, string>> = {}): ShimGoroutines {
  const [dump] = factsOfMade({ entries: { 'shim/goroutines.txt': text, ...entries } }).goroutines ?? [];
  if (dump === undefined) throw new Error('no dump');
  return dump;
}

const sample = (name: string) => readFileSync(join(DUMPS, `${name}.txt`), 'utf8');

const locksOf = ({ locks }: ShimGoroutines) =>
  locks.map(({ name, operation, joinedBy, holder, waiters }) => ({
    ...{ name, operation, joinedBy, holder: holder?.rpc ?? null },
    waiters: waiters.map(({ rpc }) => rpc),
  }));

describe('the locks of a shim', () => {
  it.each(['1.6.20', '2.3.4'])(
    'of %s: Delete holds, State waits, and both are told by address to mean the same container',
    version => {
      const dump = dumpOf(sample(`shim-${version}-umount-in-delete`));
      expect(locksOf(dump)).toEqual([
        { name: 'Init.mu', operation: 'Delete', joinedBy: 'address', holder: 'Delete', waiters: ['State'] },
      ]);
      expect(dump).toMatchObject({ complete: true, idle: false, shimPid: SHIM_PID });
    },
  );

  it.each([
    ['runc-delete-wait', 'Init.mu', 'Delete'],
    ['runc-start-wait', 'Init.mu', 'Start'],
    ['runc-kill-wait', 'Init.mu', 'Kill'],
    ['runc-exec-wait', 'execProcess.mu', 'Start'],
    ['stdio-drain-waitTimeout', 'Init.mu', 'Delete'],
  ])('of a shim in %s: held, with nobody behind it', (name, lock, operation) => {
    for (const version of ['1.6.20', '2.3.4']) {
      const found = locksOf(dumpOf(sample(`shim-${version}-${name}`)));
      expect(found).toEqual([{ name: lock, operation, joinedBy: null, holder: operation, waiters: [] }]);
    }
  });

  it('does not take a waiter for the holder of what it waits for', () => {
    const dump = dumpOf(`goroutine 7 [sync.Mutex.Lock, 3 minutes]:
internal/sync.runtime_SemacquireMutex(0x1?, 0x2?, 0x3?)
	runtime/sema.go:95 +0x25
internal/sync.(*Mutex).lockSlow(0xc000154f40)
	internal/sync/mutex.go:149 +0x15d
internal/sync.(*Mutex).Lock(...)
	internal/sync/mutex.go:70
github.com/containerd/containerd/pkg/process.(*Init).Kill(0xc000154f20, {0x1, 0x2}, 0x9, 0x0)
	github.com/containerd/containerd/pkg/process/init.go:330 +0x92
`);
    expect(locksOf(dump)).toEqual([
      { name: 'Init.mu', operation: null, joinedBy: null, holder: null, waiters: [null] },
    ]);
  });

  it('keeps the locks of two containers apart', () => {
    const holder = (id: number, object: string) => `goroutine ${id} [syscall]:
golang.org/x/sys/unix.Unmount({0x1?, 0x2?}, 0x0)
	golang.org/x/sys/unix/zsyscall_linux.go:1708 +0x7d
github.com/containerd/containerd/pkg/process.(*Init).delete(${object}, {0x1, 0x2})
	github.com/containerd/containerd/pkg/process/init.go:323 +0x1c5
github.com/containerd/containerd/pkg/process.(*Init).Delete(0x5?, {0x1?, 0x2?})
	github.com/containerd/containerd/pkg/process/init.go:297 +0xa2
`;
    const waiter = `goroutine 30 [semacquire]:
sync.runtime_SemacquireMutex(0x1?, 0x2?, 0x3?)
	runtime/sema.go:77 +0x25
sync.(*Mutex).lockSlow(0xc000200020)
	sync/mutex.go:171 +0x165
sync.(*Mutex).Lock(...)
	sync/mutex.go:90
github.com/containerd/containerd/pkg/process.(*Init).Status(0x7?, {0x1?, 0x2?})
	github.com/containerd/containerd/pkg/process/init.go:249 +0x92
`;
    const { locks } = dumpOf(`${holder(10, '0xc000100000')}\n${holder(20, '0xc000200000')}\n${waiter}`);
    const waited = locks.find(({ waiters }) => waiters.length > 0);
    expect(waited).toMatchObject({ joinedBy: 'address', holder: { id: 20 }, address: '0xc000200020' });
    expect(locks).toHaveLength(2);
    // The same with an object that neither of them is: nobody is named.
    const strange = dumpOf(`${holder(10, '0xc000100000')}\n${waiter}`).locks.find(({ waiters }) => waiters.length > 0);
    expect(strange).toMatchObject({ holder: null, joinedBy: null });
  });
});

describe('a dump', () => {
  it.each(readdirSync(DUMPS).filter(name => /^shim-.*\.txt$/.test(name)))(
    '%s is read whole, and is idle when it is',
    name => {
      const dump = dumpOf(readFileSync(join(DUMPS, name), 'utf8'));
      expect(dump).toMatchObject({ complete: true, idle: name.includes('healthy') });
    },
  );

  it('that was cut says where, and is not idle whatever is in it', () => {
    const text = sample('shim-2.3.4-healthy');
    const cut = dumpOf(text.slice(0, text.length / 2));
    expect(cut.complete).toBe(false);
    expect(cut.verdict).toMatch(/^truncated \(at goroutine \d+\)$/);
    expect(cut.idle).toBe(false);
  });

  it('without a goroutine is none', () => {
    expect(factsOfMade({ entries: { 'shim/goroutines.txt': '' } }).goroutines).toBeNull();
  });

  it('finds the thread below a goroutine by the registers of its call', () => {
    const thread = (tid: number, first: string) =>
      `===== ${tid} containerd-shim D wb_wait_for_completion blocked for 20.0 =====\n166 ${first} 0x0 0x0 0x0 0x0 0x0 0x7 0x8\n`;
    const threads = `# process ${SHIM_PID} containerd-shim\n${thread(2630, '0x1af229bcebff')}${thread(2631, '0x1af229bcebd0')}`;
    const dump = dumpOf(sample('shim-2.3.4-umount-in-delete'), { 'shim/threads-1.txt': threads });
    expect(dump.all.find(({ id }) => id === 147)?.tid).toBe(2631);
    // Builds for registers print the arguments with a question mark: two threads in umount2 leave it open, one does not.
    const older = (text: string) => dumpOf(sample('shim-1.6.20-umount-in-delete'), { 'shim/threads-1.txt': text });
    expect(older(threads).all.find(({ id }) => id === 118)?.tid).toBeNull();
    const one = `# process ${SHIM_PID} containerd-shim\n${thread(2631, '0xc0001d9800')}`;
    expect(older(one).all.find(({ id }) => id === 118)?.tid).toBe(2631);
  });

  it('of a real stall has three State behind one Delete, and the thread of that', () => {
    const facts = factsOfBundle('state-behind-delete');
    const [dump] = facts.goroutines ?? [];
    const [lock] = dump?.locks ?? [];
    expect(lock).toMatchObject({ name: 'Init.mu', operation: 'Delete', joinedBy: 'address' });
    expect(lock?.waiters.map(({ rpc }) => rpc)).toEqual(['State', 'State', 'State']);
    const thread = facts.threads?.all.find(({ tid }) => tid === lock?.holder?.tid);
    expect(thread).toMatchObject({ state: 'D', call: { name: 'umount2' } });
  });

  it('of a shim of docker is told by the pid in its folder', () => {
    const facts = factsOfMade({ entries: { 'shim/4711/goroutines.txt': sample('shim-2.3.4-healthy') } });
    expect(facts.goroutines).toMatchObject([{ shimPid: 4711 }]);
    expect(facts.capture.versions.shimMajor).toBe(2);
  });
});
