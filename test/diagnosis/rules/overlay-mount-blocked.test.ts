import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { overlayMountBlocked } from '../../../src/diagnosis/rules/overlay-mount-blocked.ts';
import { callOf, containerOf, factsOf, goroutinesOf, podThreads, SHIM_PID, shimOf, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { GO_IDLE, MOUNT, MOUNT_FROZEN, UMOUNT_SYNC, UMOUNT2 } from '../stacks.ts';

const mounting = threadOf({ tid: 683, call: MOUNT, stack: MOUNT_FROZEN });
const create = goroutinesOf('goroutine 33 [syscall]:\ngolang.org/x/sys/unix.Mount(0x1)\n\tx.go:1', {
  each: () => ({ rpc: 'Create' }),
});
const withMount = (rest: Partial<Facts> = {}) =>
  factsOf({ threads: podThreads(mounting), goroutines: [create], ...rest });

describe('overlay-mount-blocked', () => {
  it('names the mount on a frozen filesystem, in a real capture', () => {
    const [found] = judge(overlayMountBlocked, factsOfBundle('overlay-mount-blocked'));
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringContaining('mounting the disk of container app'),
    });
    expect(found?.because.map(({ text }) => text).join('\n')).toMatch(
      /ovl_fill_super[\s\S]*path_mount|path_mount[\s\S]*ovl_fill_super/,
    );
    expect(found?.links).toMatchObject([{ waitsFor: ['filesystem:7:0'] }]);
  });

  it('is proved by the thread and the Create in the dump, and likely by the thread alone', () => {
    expect(judge(overlayMountBlocked, withMount())).toMatchObject([{ verdict: 'proved', ageMs: 20_000 }]);
    expect(judge(overlayMountBlocked, withMount({ goroutines: null }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('goes by the name of the call: 40 is mount on arm64', () => {
    const threads = podThreads({ ...mounting, call: callOf('mount', 40) });
    expect(judge(overlayMountBlocked, withMount({ threads }))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('goes by the stack where the call could not be read, and by the call where the stack could not', () => {
    const byStack = podThreads({ ...mounting, call: null });
    expect(judge(overlayMountBlocked, withMount({ threads: byStack }))).toMatchObject([{ verdict: 'proved' }]);
    const byCall = podThreads({ ...mounting, stack: null });
    expect(judge(overlayMountBlocked, withMount({ threads: byCall }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('says what the pod answers meanwhile, by version', () => {
    const versions = { containerd: '2.3.2', runc: null, docker: null, kubelet: null, shimMajor: 2 } as const;
    const base = withMount();
    const [fixed] = judge(overlayMountBlocked, { ...base, capture: { ...base.capture, versions } });
    expect(fixed?.says).not.toContain('answers no request');
    expect(judge(overlayMountBlocked, base)[0]?.says).toContain('answers no request of the pod');
  });

  it('finds the Create of this thread among several, and the container that has neither process nor record yet', () => {
    const creates = goroutinesOf(
      'goroutine 7 [syscall]:\nmain.a(0x1)\n\tx.go:1\n\ngoroutine 8 [syscall]:\nmain.b(0x1)\n\tx.go:1',
      {
        each: ({ id }) => ({ rpc: 'Create', tid: id === 8 ? 683 : 1 }),
      },
    );
    const running = containerOf({ id: 'aa'.repeat(32), name: 'sidecar' });
    const early = containerOf({ initPid: null, init: null, runc: 'absent' });
    const [found] = judge(overlayMountBlocked, withMount({ goroutines: [creates], containers: [running, early] }));
    expect(found?.says).toContain('the disk of container app');
    expect(found?.links[0]?.about).toEqual(['thread:683', `goroutine:${SHIM_PID}:8`, `task:${early.id}`]);
    const gone = containerOf({ initPid: null, init: null, bundle: 'absent' });
    expect(judge(overlayMountBlocked, withMount({ containers: [gone] }))[0]?.says).toContain('the disk of a container');
  });

  it('cites a Connect that was not answered', () => {
    const cite = { entry: 'runtime/views.json', line: 3, text: '"connect": "timeout"' };
    const shims = [shimOf({ connect: { answered: false, tookMs: 2000, cite } })];
    expect(judge(overlayMountBlocked, withMount({ shims }))[0]?.because).toContainEqual(cite);
    const answered = [shimOf({ connect: { answered: true, tookMs: 3, cite } })];
    expect(judge(overlayMountBlocked, withMount({ shims: answered }))[0]?.because).not.toContainEqual(cite);
  });

  it('is silent about umount2, about other mounters, about one that moved and about idle Go', () => {
    const silent = [
      threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC }),
      threadOf({ call: MOUNT, stack: MOUNT_FROZEN, role: 'other', comm: 'mount', pid: 99 }),
      threadOf({ call: MOUNT, stack: MOUNT_FROZEN, moved: 'moved' }),
      threadOf({ state: 'S', stack: GO_IDLE, idle: true }),
    ];
    for (const thread of silent) {
      expect(judge(overlayMountBlocked, withMount({ threads: podThreads(thread) }))).toEqual([]);
    }
  });

  it('proves nothing of a thread that was seen once, nor below 5 s', () => {
    const once = podThreads({ ...mounting, moved: 'once', seen: 1, looks: 1 });
    expect(judge(overlayMountBlocked, withMount({ threads: once }))).toMatchObject([{ verdict: 'likely' }]);
    const young = podThreads({ ...mounting, blockedForMs: 3000 });
    expect(judge(overlayMountBlocked, withMount({ threads: young }))).toMatchObject([{ verdict: 'possible' }]);
  });
});
