import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { overlayUmountSync } from '../../../src/diagnosis/rules/overlay-umount-sync.ts';
import { stateBehindDelete } from '../../../src/diagnosis/rules/state-behind-delete.ts';
import { CONTAINER_ID, callOf, containerOf, eventOf, factsOf, logsOf, podThreads, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge, shimDump, shimDumpOf } from '../judge.ts';

const dead = containerOf({ init: 'gone', bundle: { files: [], cite: { entry: 'x', line: 1, text: 'x' } } });
const thread = threadOf({ tid: 2631, call: callOf('umount2', 166, '0xc000300120') });
const timeout = eventOf('state-timeout', { message: `get state for ${CONTAINER_ID}`, agoMs: 40_000 });
const timeouts = logsOf([timeout], {
  stateTimeouts: { total: 1, byContainer: new Map([[CONTAINER_ID, 1]]), perMinute: null },
});

const facts = (partial: Parameters<typeof factsOf>[0] = {}): Facts =>
  factsOf({
    goroutines: [shimDump('1.6.20-umount-in-delete', podThreads(thread))],
    threads: podThreads(thread),
    containers: [dead],
    ...partial,
  });

describe('State that waits behind a Delete', () => {
  it('is proved by a real one: who holds, who waits, what the log says of it', () => {
    const [found, ...more] = judge(stateBehindDelete, factsOfBundle('state-behind-delete'));
    expect(more).toEqual([]);
    expect(found).toMatchObject({ verdict: 'proved' });
    expect(found?.says).toMatch(
      /^Shim \d+ cannot answer what state container app \([0-9a-f]{12}\) is in: 3 State requests wait for the lock that its Delete holds, which is in Unmount; /,
    );
    expect(found?.because.map(({ entry }) => entry)).toEqual([
      ...['shim/goroutines.txt', 'shim/goroutines.txt', 'shim/goroutines.txt', 'shim/goroutines.txt'],
      ...['logs/containerd.log', 'logs/containerd.log'],
    ]);
    expect(found?.because.at(-1)?.text).toContain('get state for');
    expect(found?.ageMs).toBeGreaterThan(5000);
  });

  it('is joined to what the Delete hangs in', () => {
    const { chain } = diagnose(factsOfBundle('state-behind-delete'), [overlayUmountSync, stateBehindDelete]);
    expect(chain?.sentence).toMatch(
      /^shim \d+ goroutine \d+ in Unmount, holding Init\.mu with 3 State calls behind it ← thread \d+ in D in umount2 for \d+\.\d s, never moved ← overlay sync of \/lab\/disk \(loop0\), .* to drain$/,
    );
    expect(chain?.endsBefore).toBe('device loop0');
  });

  it('is likely without the echo of it in the log', () => {
    expect(judge(stateBehindDelete, facts())).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(stateBehindDelete, facts({ logs: timeouts }))).toMatchObject([{ verdict: 'proved', ageMs: 20_000 }]);
  });

  it('is proved by a State of our own that had no answer', () => {
    const shimAnswer = {
      status: 'timeout',
      pid: null,
      exitStatus: null,
      exitedAt: null,
      tookMs: 2000,
      cite: { entry: 'runtime/views.json', line: 1, text: 'timeout' },
    } as const;
    expect(judge(stateBehindDelete, facts({ containers: [{ ...dead, shimAnswer }] }))).toMatchObject([
      { verdict: 'proved' },
    ]);
  });

  it('has its age from the thread, else from the minutes of the dump, else from the log, else none', () => {
    expect(judge(stateBehindDelete, facts())[0]).toMatchObject({ ageMs: 20_000 });
    const without = facts({ goroutines: [shimDump('1.6.20-umount-in-delete')], threads: null });
    expect(judge(stateBehindDelete, without)[0]).toMatchObject({ verdict: 'possible', ageMs: null, ageFrom: null });
    expect(judge(stateBehindDelete, { ...without, logs: timeouts })[0]).toMatchObject({
      ageMs: 40_000,
      verdict: 'proved',
    });
  });

  it('names the container by its end, and none where two have ended', () => {
    const two = [dead, containerOf({ ...dead, id: 'd2'.repeat(32) })];
    expect(judge(stateBehindDelete, facts({ containers: two }))[0]?.says).toContain('what state a container is in');
    expect(judge(stateBehindDelete, facts())[0]?.links[0]?.about).toContain(`task:${CONTAINER_ID}`);
  });
});

describe('what only resembles it', () => {
  it.each([
    ['a Delete that nobody waits behind', '1.6.20-runc-delete-wait'],
    ['a Create that holds the whole shim', '1.6.20-runc-create-wait'],
    ['a slow read of a cgroup', '2.3.4-cgroup-stats'],
    ['a runc start of another container', '2.3.4-runc-start-wait'],
    ['a shim that is well', '2.3.4-healthy'],
  ])('is not taken for it: %s', (_, dump) => {
    expect(judge(stateBehindDelete, facts({ goroutines: [shimDump(dump)], logs: timeouts }))).toEqual([]);
  });

  it('is not taken for it: requests in (*Init).lock of shims that let State pass a Delete', () => {
    const text = `goroutine 7 [sync.Mutex.Lock, 3 minutes]:
internal/sync.(*Mutex).lockSlow(0xc000154f40)
	internal/sync/mutex.go:149 +0x15d
sync.(*Mutex).Lock(...)
	sync/mutex.go:46
github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/process.(*Init).lock(0xc000154f20)
	github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/process/init.go:330 +0x92
github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/process.(*Init).Kill(0xc000154f20, {0x1, 0x2}, 0x9, 0x0)
	github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/process/init.go:340 +0x92
`;
    const dump = shimDumpOf(text);
    expect(dump.locks).toMatchObject([{ name: 'Init.lock' }]);
    expect(judge(stateBehindDelete, facts({ goroutines: [dump], logs: timeouts }))).toEqual([]);
  });

  it('is not applicable without a dump: a shim that is dead, or was not signalled', () => {
    const { notApplicable } = diagnose(facts({ goroutines: null, logs: timeouts }), [stateBehindDelete]);
    expect(notApplicable).toMatchObject([{ rule: 'state-behind-delete', missing: ['a goroutine dump of the shim'] }]);
  });

  it.each(['healthy', 'somebody-syncs', 'umount-delayed', 'overlay-umount-sync', 'overlay-mount-blocked'])(
    'is not taken for it in a real capture: %s',
    name => {
      expect(judge(stateBehindDelete, factsOfBundle(name))).toEqual([]);
    },
  );
});
