import { describe, expect, it } from 'vitest';
import type { Facts, LogEvent } from '../../../src/diagnosis/facts.ts';
import { rootfsBusy } from '../../../src/diagnosis/rules/rootfs-busy.ts';
import { CONTAINER_ID, containerOf, eventOf, factsOf, logsOf, podThreads, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { UMOUNT_SYNC, UMOUNT2 } from '../stacks.ts';

const ROOTFS = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${CONTAINER_ID}/rootfs`;
const refused = (agoMs: number, error = 'device or resource busy') =>
  eventOf('unmount-failed', {
    agoMs,
    message: 'failed to cleanup rootfs mount',
    error: `failed to unmount target ${ROOTFS}: ${error}`,
  });
const twice = [refused(60_000), refused(30_000)];
const withLog = (events: readonly LogEvent[], rest: Partial<Facts> = {}) =>
  factsOf({ logs: logsOf(events), containers: [containerOf({ init: 'gone' })], ...rest });

describe('rootfs-busy', () => {
  it('names the container whose unmount is refused, in a real capture', () => {
    expect(judge(rootfsBusy, factsOfBundle('rootfs-busy'))).toMatchObject([
      {
        verdict: 'likely',
        says: expect.stringMatching(
          /^The root filesystem of container app \(\w+\) cannot be unmounted because somebody uses it/,
        ),
      },
    ]);
  });

  it('is likely by the log, since the first refusal, and proved with who holds it', () => {
    expect(judge(rootfsBusy, withLog(twice))).toMatchObject([{ verdict: 'likely', ageMs: 60_000 }]);
    const holder = { pid: 4711, comm: 'falcon-sensor', how: 'mount namespace', ofPod: false };
    const holders = {
      pipeWriters: new Map(),
      mounts: new Map([[ROOTFS, [{ ...holder, cite: { entry: 'node/holders.txt', line: 3, text: ROOTFS } }]]]),
    };
    expect(judge(rootfsBusy, withLog(twice, { holders }))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('process 4711 (falcon-sensor, mount namespace) uses it') },
    ]);
  });

  it('is silent about a single refusal, another error, another container and a container that runs', () => {
    expect(judge(rootfsBusy, withLog([refused(60_000)]))).toEqual([]);
    expect(judge(rootfsBusy, withLog([refused(60_000, 'input/output error'), refused(1, 'invalid argument')]))).toEqual(
      [],
    );
    const foreign = twice.map(event => ({ ...event, container: null, ids: ['ee'.repeat(32)] }));
    expect(judge(rootfsBusy, withLog(foreign))).toEqual([]);
    expect(judge(rootfsBusy, withLog(twice, { containers: [containerOf()] }))).toEqual([]);
    expect(
      judge(rootfsBusy, withLog(twice, { containers: [containerOf({ init: 'gone', bundle: 'absent' })] })),
    ).toEqual([]);
  });

  it("knows the shim's, CRI's and the bundle's words for it, and no other busy thing", () => {
    const busy = (kind: LogEvent['kind'], message: string) => {
      const events = [60_000, 30_000].map(agoMs => eventOf(kind, { agoMs, message, error: 'device or resource busy' }));
      return judge(rootfsBusy, withLog(events));
    };
    expect(busy('unmount-failed', 'cleanup')).toHaveLength(1);
    expect(busy('bundle-delete-failed', 'failed to delete bundle')).toHaveLength(1);
    expect(busy('exit-handling-failed', 'failed to delete task: failed rootfs umount')).toHaveLength(1);
    expect(busy('cgroup-busy', 'failed to remove cgroup')).toEqual([]);
  });

  it('knows the container by any id in the line', () => {
    const named = twice.map(event => ({ ...event, container: null }));
    expect(judge(rootfsBusy, withLog(named))).toHaveLength(1);
    const first = twice.map(event => ({ ...event, ids: [] }));
    expect(judge(rootfsBusy, withLog(first))).toHaveLength(1);
  });

  it('minds no other thread of the shim, and no umount2 of others', () => {
    const threads = podThreads(
      threadOf({ tid: 1, state: 'S', call: UMOUNT2 }),
      threadOf({ tid: 2 }),
      threadOf({ tid: 3, role: 'application', call: UMOUNT2 }),
    );
    expect(judge(rootfsBusy, withLog(twice, { threads }))).toHaveLength(1);
  });

  it('is silent while the shim hangs in umount2: that is no refusal', () => {
    const threads = podThreads(threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC }));
    expect(judge(rootfsBusy, withLog(twice, { threads }))).toEqual([]);
  });

  it('proves nothing below 5 s', () => {
    expect(judge(rootfsBusy, withLog([refused(4000), refused(1000)]))).toMatchObject([{ verdict: 'possible' }]);
  });
});
