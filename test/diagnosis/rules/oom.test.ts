import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import type { ContainerCgroup } from '../../../src/diagnosis/facts.ts';
import { elsewhere } from '../../../src/diagnosis/rules/elsewhere.ts';
import { oom } from '../../../src/diagnosis/rules/oom.ts';
import { containerOf, factsOf, kernelEventOf, STARTED_AT } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const killed = (pid: number, ofPod: boolean) => [
  kernelEventOf({
    kind: 'oom-kill',
    text: `oom-kill:constraint=CONSTRAINT_MEMCG,task=java,pid=${pid},uid=0`,
    comm: 'java',
    pid,
    ofPod,
  }),
  kernelEventOf({
    kind: 'oom-kill',
    text: `Memory cgroup out of memory: Killed process ${pid} (java)`,
    comm: 'java',
    pid,
  }),
];
const withLog = (events: ReturnType<typeof killed>) =>
  factsOf({ kernel: { events, from: STARTED_AT, to: STARTED_AT } });

describe('oom', () => {
  it('tells the kill in this pod from the one in another, in a real capture, and makes no stall of them', () => {
    const facts = factsOfBundle('limits-met');
    expect(judge(oom, facts)).toMatchObject([
      { kind: 'context', verdict: 'proved', says: expect.stringMatching(/killed tail \d+ of this pod/) },
    ]);
    expect(judge(elsewhere, facts)).toMatchObject([
      { verdict: 'possible', says: expect.stringContaining('not of this pod') },
    ]);
    expect(diagnose(facts).outcome).toBe('none');
  });

  it('takes the two lines of a kill for one', () => {
    expect(judge(oom, withLog(killed(4711, true)))).toMatchObject([
      { says: 'The kernel killed java 4711 of this pod for lack of memory, 1 min before the capture.' },
    ]);
    expect(judge(oom, withLog([...killed(4711, true), ...killed(4712, true)]))[0]?.says).toContain(
      'java 4712 of this pod for lack of memory (and 1 more)',
    );
  });

  it('mentions kills in other pods elsewhere', () => {
    expect(judge(oom, withLog(killed(99, false)))).toEqual([]);
    expect(judge(elsewhere, withLog(killed(99, false)))).toMatchObject([{ kind: 'context' }]);
  });

  it('believes the counter of the cgroup where the log has nothing', () => {
    const cite = { entry: 'containers/c1/cgroup.txt', line: 9, text: 'memory.events: oom_kill 2' };
    const memory = { currentBytes: 1, maxBytes: 1, highBytes: null, highEventsGrowth: null, oomKills: 2, cite };
    const cgroup: ContainerCgroup = {
      path: '/c1',
      version: 2,
      freezer: null,
      pids: null,
      memory,
      cpu: null,
      ioLimits: [],
    };
    expect(judge(oom, factsOf({ containers: [containerOf({ cgroup })] }))).toMatchObject([
      { says: expect.stringContaining('killed 2 processes of container app') },
    ]);
    const none = { ...cgroup, memory: { ...memory, oomKills: 0 } };
    expect(judge(oom, factsOf({ containers: [containerOf({ cgroup: none })] }))).toEqual([]);
  });
});
