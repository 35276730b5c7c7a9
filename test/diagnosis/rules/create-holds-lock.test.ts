import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { createHoldsLock } from '../../../src/diagnosis/rules/create-holds-lock.ts';
import {
  CONTAINER_ID,
  callOf,
  factsOf,
  podThreads,
  processOf,
  processTable,
  SHIM_PID,
  shimOf,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge, shimDump, shimDumpOf } from '../judge.ts';
import { FUSE_STAT } from '../stacks.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const versionOf = (containerd: string | null) => ({
  versions: { containerd, runc: null, docker: null, kubelet: null, shimMajor: null },
});

/** A `runc create` that is 30 s old. */
const withRunc = (rest: Partial<Omit<Facts, 'capture'>> & { readonly capture?: Partial<Facts['capture']> } = {}) =>
  factsOf({
    goroutines: [shimDump('1.6.20-runc-create-wait')],
    shims: [shimOf()],
    threads: podThreads(
      threadOf({ pid: 5834, tid: 5834, comm: 'runc', role: 'runc', state: 'S', call: callOf('read', 0) }),
    ),
    processes: processTable(
      processOf({ pid: 5834, ppid: SHIM_PID, ageMs: 30_000, args: `runc create ${CONTAINER_ID}` }),
    ),
    ...rest,
  });

/** Hand-written after the field's dumps: a State and a Connect behind a create, addresses given. */
const BEHIND_CREATE = `goroutine 43 [chan receive, 1 minutes]:
github.com/containerd/containerd/sys/reaper.(*Monitor).Wait(0xc0000a4000, 0xc0001b6000, 0xc0001b8000)
	github.com/containerd/containerd/sys/reaper/reaper_unix.go:146 +0x6f
github.com/containerd/go-runc.(*Runc).Create(0xc0001c0000, {0xbfcde0, 0xc0001d0000}, {0xc0001e0000, 0x40})
	github.com/containerd/go-runc/runc.go:185 +0x3c5
github.com/containerd/containerd/pkg/process.(*Init).Create(0xc0001f0000, {0xbfcde0, 0xc0001d0000}, 0xc000200000)
	github.com/containerd/containerd/pkg/process/init.go:162 +0x6e8
github.com/containerd/containerd/runtime/v2/runc.NewContainer({0xbfcde0, 0xc0001d0000}, {0xc0, 0x1}, 0xc0002)
	github.com/containerd/containerd/runtime/v2/runc/container.go:137 +0x10a5
github.com/containerd/containerd/runtime/v2/runc/task.(*service).Create(0xc000102cb0, {0xbfcde0, 0xc0001d0000}, 0xc0002)
	github.com/containerd/containerd/runtime/v2/runc/task/service.go:119 +0xd5
github.com/containerd/containerd/runtime/v2/task.RegisterTaskService.func2({0xbfcde0, 0xc0001d0000}, 0xc000100)
	github.com/containerd/containerd/runtime/v2/task/shim.pb.go:3463 +0x9b
github.com/containerd/ttrpc.(*serviceSet).dispatch(0xc0000a2600, {0xbfcde0, 0xc0001d0000})
	github.com/containerd/ttrpc/services.go:95 +0x1be

goroutine 61 [semacquire]:
sync.runtime_SemacquireMutex(0xc0001d00f0?, 0x1?, 0xc00009a358?)
	runtime/sema.go:77 +0x25
sync.(*Mutex).lockSlow(0xc000102cb8)
	sync/mutex.go:171 +0x165
sync.(*Mutex).Lock(...)
	sync/mutex.go:90
github.com/containerd/containerd/runtime/v2/runc/task.(*service).getContainer(0xc000102cb0, {0xc0, 0x40})
	github.com/containerd/containerd/runtime/v2/runc/task/service.go:700 +0x45
github.com/containerd/containerd/runtime/v2/runc/task.(*service).Connect(0xc000102cb0, {0xbfcde0, 0xc00009c960}, 0xc0002)
	github.com/containerd/containerd/runtime/v2/runc/task/service.go:500 +0x35
github.com/containerd/containerd/runtime/v2/task.RegisterTaskService.func16({0xbfcde0, 0xc00009c960}, 0xc000168280)
	github.com/containerd/containerd/runtime/v2/task/shim.pb.go:3561 +0x9b
github.com/containerd/ttrpc.(*serviceSet).dispatch(0xc0000a2600, {0xbfcde0, 0xc00009c960})
	github.com/containerd/ttrpc/services.go:95 +0x1be
`;

describe('create-holds-lock', () => {
  it('waits for the thread that its runc waits in, though that is too young to be called stuck', () => {
    const init = threadOf({
      ...{ pid: 5840, tid: 5840, comm: 'runc:[2:INIT]', role: 'runc init', state: 'S', stack: FUSE_STAT },
      wchan: 'request_wait_answer',
    });
    const facts = withRunc({
      threads: podThreads(
        threadOf({ pid: 5834, tid: 5834, comm: 'runc', role: 'runc', state: 'S', call: callOf('read', 0) }),
        init,
      ),
      processes: processTable(
        processOf({ pid: 5834, ppid: SHIM_PID, ageMs: 7000, args: `runc create ${CONTAINER_ID}` }),
        processOf({ pid: 5840, ppid: 5834, args: 'runc init' }),
      ),
      capture: versionOf('1.6.20'),
    });
    const [found] = judge(createHoldsLock, facts);
    expect(found?.links.at(-1)?.waitsFor).toEqual(['process:5834', 'thread:5840']);
    expect(
      diagnose(facts)
        .findings.map(({ rule }) => rule)
        .slice(0, 2),
    ).toEqual(['fuse-hang', 'create-holds-lock']);
  });

  it('is proved by the create that holds the lock and the requests behind it', () => {
    const [found] = judge(createHoldsLock, withRunc({ goroutines: [shimDumpOf(BEHIND_CREATE)] }));
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 60_000,
      says: expect.stringContaining(
        'Goroutine 43 of shim 2623 is in runc create and keeps the lock of the whole pod for 1 min: a request waits behind it (Connect)',
      ),
    });
    expect(found?.next.join()).toContain('2.3.2');
    expect(found?.links).toMatchObject([
      { about: ['lock:2623:0xc000102cb8'], waitsFor: ['goroutine:2623:43'] },
      { about: ['goroutine:2623:43'], waitsFor: ['process:5834'] },
    ]);
  });

  it('cites the Connect that was not answered', () => {
    const connect = { answered: false, tookMs: 2000, cite: cited('runtime/views.json', 'Connect: timeout') };
    const [found] = judge(
      createHoldsLock,
      withRunc({ goroutines: [shimDumpOf(BEHIND_CREATE)], shims: [shimOf({ connect })] }),
    );
    expect(found?.because).toContainEqual(connect.cite);
  });

  it('names the mount of the rootfs by its thread', () => {
    const dump = factsOfBundle('create-timeout');
    expect(judge(createHoldsLock, dump)).toMatchObject([
      { verdict: 'proved', links: [{}, { waitsFor: [expect.stringMatching(/^thread:/)] }] },
    ]);
  });

  it('is likely before anybody has come to wait, with the versions that hold the lock', () => {
    for (const version of ['1.4.13', '1.6.20~ds1', '1.7.34', '2.0.11', '2.2.7', '2.3.1']) {
      expect(judge(createHoldsLock, withRunc({ capture: versionOf(version) }))).toMatchObject([
        { verdict: 'likely', ageMs: 30_000 },
      ]);
    }
  });

  it('takes a Connect that was not answered for a request that waits, and one that was for a lock that is free', () => {
    const connect = (answered: boolean) => ({ answered, tookMs: 2000, cite: cited('runtime/views.json', 'Connect') });
    const asked = (answered: boolean, version: string | null) =>
      judge(
        createHoldsLock,
        withRunc({ capture: versionOf(version), shims: [shimOf({ connect: connect(answered) })] }),
      );
    expect(asked(false, '1.6.20')).toMatchObject([{ verdict: 'proved' }]);
    expect(asked(false, null)).toMatchObject([{ verdict: 'proved' }]);
    expect(asked(true, '1.6.20')).toEqual([]);
    expect(asked(false, '2.3.4')).toEqual([]);
  });

  it('does not fire from 2.3.2 on, nor for an unknown version', () => {
    for (const version of ['2.3.2', '2.3.4', '2.4.0-beta.0', null]) {
      expect(
        judge(
          createHoldsLock,
          withRunc({ capture: versionOf(version), goroutines: [shimDump('2.3.4-runc-create-wait')] }),
        ),
      ).toEqual([]);
    }
  });

  it('says no more than possible below 5 s', () => {
    const processes = processTable(processOf({ pid: 5834, ppid: SHIM_PID, ageMs: 2000, args: 'runc create' }));
    expect(judge(createHoldsLock, withRunc({ processes }))).toMatchObject([{ verdict: 'possible' }]);
  });

  it('does not fire on a hang that keeps the lock of one container alone', () => {
    for (const name of [
      'umount-in-delete',
      'runc-delete-wait',
      'runc-start-wait',
      'runc-kill-wait',
      'healthy',
      'runc-exec-wait',
    ]) {
      expect(judge(createHoldsLock, withRunc({ goroutines: [shimDump(`1.6.20-${name}`)] }))).toEqual([]);
    }
  });

  it('finds it in the capture of a runc create that was held, and not beside', () => {
    expect(judge(createHoldsLock, factsOfBundle('runc-create-held'))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('Connect was not answered') },
    ]);
    for (const name of ['healthy', 'runc-start-held', 'runc-delete-held', 'exit-event-lost', 'state-behind-delete']) {
      expect(judge(createHoldsLock, factsOfBundle(name))).toEqual([]);
    }
  });
});
