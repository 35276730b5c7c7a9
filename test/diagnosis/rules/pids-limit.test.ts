import { describe, expect, it } from 'vitest';
import type { ContainerCgroup, Facts } from '../../../src/diagnosis/facts.ts';
import { pidsLimit } from '../../../src/diagnosis/rules/pids-limit.ts';
import { containerOf, eventOf, factsOf, kernelEventOf, logsOf, STARTED_AT } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const pids = (current: number, max: number | null, maxEvents: number | null) => ({
  ...{ current, max, maxEvents },
  cite: { entry: 'containers/c1/cgroup.txt', line: 88, text: `pids.current: ${current}` },
});
const withPids = (own: ContainerCgroup['pids'], rest: Partial<Facts> = {}) => {
  const cgroup: ContainerCgroup = {
    path: '/c1',
    version: 2,
    freezer: null,
    pids: own,
    memory: null,
    cpu: null,
    ioLimits: [],
  };
  return factsOf({ containers: [containerOf({ cgroup })], ...rest });
};

describe('pids-limit', () => {
  it('names the container at its limit, and no other, in a real capture', () => {
    expect(judge(pidsLimit, factsOfBundle('limits-met'))).toMatchObject([
      {
        kind: 'context',
        verdict: 'proved',
        says: expect.stringMatching(
          /^container forks \(\w+\) has 4 of 4 processes and threads, and a fork was refused/,
        ),
      },
    ]);
  });

  it('is proved at the limit with a fork that was refused, by the counter or by the kernel', () => {
    expect(judge(pidsLimit, withPids(pids(100, 100, 3)))).toMatchObject([{ verdict: 'proved' }]);
    const rejected = kernelEventOf({
      kind: 'fork-rejected',
      text: 'cgroup: fork rejected by pids controller in /c1',
      ofPod: true,
    });
    const kernel = { events: [rejected], from: STARTED_AT, to: STARTED_AT };
    expect(judge(pidsLimit, withPids(pids(100, 100, 0), { kernel }))).toMatchObject([{ verdict: 'proved' }]);
    const foreign = { events: [{ ...rejected, ofPod: false }], from: STARTED_AT, to: STARTED_AT };
    expect(judge(pidsLimit, withPids(pids(100, 100, 0), { kernel: foreign }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('is possible where it was refused once and has room by now', () => {
    expect(judge(pidsLimit, withPids(pids(7, 100, 2)))).toMatchObject([
      { verdict: 'possible', says: expect.stringContaining('was at its limit before') },
    ]);
  });

  it("looks at the pod's cgroup as well, by either name of it, and at no other", () => {
    const uid = '0d6f1c9e-6a53-4b53-9a43-0d1f5d3a8c11';
    const at = (path: string): Facts['cgroups'] => ({
      notable: [{ path, freezer: null, pids: pids(9, 9, 1) }],
      counts: new Map(),
    });
    for (const name of [`pod${uid}`, `kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`]) {
      expect(judge(pidsLimit, factsOf({ cgroups: at(`/kubepods/${name}`) }))).toMatchObject([
        { says: expect.stringMatching(/^The pod has 9 of 9/) },
      ]);
    }
    expect(judge(pidsLimit, factsOf({ cgroups: at('/kubepods/podffff') }))).toEqual([]);
  });

  it('is silent about open files, inotify, and a container with room', () => {
    const logs = logsOf([
      eventOf('too-many-open-files', { error: 'failed to create fsnotify watcher: too many open files' }),
    ]);
    expect(judge(pidsLimit, withPids(pids(7, 100, 0), { logs }))).toEqual([]);
    expect(judge(pidsLimit, withPids(pids(7, null, null)))).toEqual([]);
    expect(judge(pidsLimit, withPids(null))).toEqual([]);
  });
});
