import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { cgroupLeak } from '../../../src/diagnosis/rules/cgroup-leak.ts';
import { eventOf, factsOf, logsOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const count = (number: number): Facts['cgroups'] => ({
  notable: [],
  counts: new Map([
    ['memory', { count: number, cite: { entry: 'node/cgroups', line: 6, text: `memory\t4\t${number}\t1` } }],
  ]),
});
/** runc, of a node that had run out of them. */
const refused = eventOf('no-space', {
  error:
    'failed to create shim task: OCI runtime create failed: mkdir /sys/fs/cgroup/memory/kubepods/burstable/pod0d6f: no space left on device',
});
const diskFull = eventOf('no-space', { error: 'write /var/lib/containerd/tmp: no space left on device' });

describe('cgroup-leak', () => {
  it('is proved by the number of memory cgroups and a refused mkdir', () => {
    expect(judge(cgroupLeak, factsOf({ cgroups: count(65_507), logs: logsOf([refused]) }))).toMatchObject([
      {
        kind: 'context',
        verdict: 'proved',
        says: expect.stringContaining('65507 memory cgroups of at most 65535, and making another one was refused'),
      },
    ]);
  });

  it('is likely by the number alone, possible by a refusal alone', () => {
    expect(judge(cgroupLeak, factsOf({ cgroups: count(65_507) }))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(cgroupLeak, factsOf({ cgroups: count(412), logs: logsOf([refused]) }))).toMatchObject([
      { verdict: 'possible' },
    ]);
  });

  it('is silent about a full disk, and about a node as they are', () => {
    expect(judge(cgroupLeak, factsOf({ cgroups: count(412), logs: logsOf([diskFull]) }))).toEqual([]);
    expect(judge(cgroupLeak, factsOfBundle('healthy'))).toEqual([]);
    expect(
      judge(cgroupLeak, factsOf({ cgroups: { notable: [], counts: new Map() }, logs: logsOf([refused]) })),
    ).toEqual([]);
  });
});
