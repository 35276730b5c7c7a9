import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import type { KernelEvent } from '../../../src/diagnosis/facts.ts';
import { elsewhere } from '../../../src/diagnosis/rules/elsewhere.ts';
import { containerOf, factsOf, kernelEventOf, podThreads, processOf, processTable, STARTED_AT } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const hung = (pid: number, agoMs = 60_000) =>
  kernelEventOf({
    ...{ kind: 'hung-task', text: `INFO: task java:${pid} blocked for more than 122 seconds.`, comm: 'java', pid },
    ...{ hungForMs: 122_000, time: STARTED_AT - agoMs },
  });
const withLog = (events: readonly KernelEvent[]) =>
  factsOf({
    ...{ kernel: { events, from: STARTED_AT, to: STARTED_AT }, threads: podThreads(), containers: [containerOf()] },
  });

describe('elsewhere', () => {
  it('mentions hung tasks of others in one sentence, the last ones by name', () => {
    expect(judge(elsewhere, withLog([1, 2, 3, 4, 5].map(pid => hung(pid, 600_000 - pid * 60_000))))).toMatchObject([
      {
        ...{ kind: 'context', verdict: 'possible', ageMs: null, links: [] },
        says: 'The kernel has reported hung tasks that are not of this pod, or hang no more: java 2, java 3, java 4, java 5 and 1 more, last 5 min before the capture.',
      },
    ]);
  });

  it('makes no stall of a pod that is well', () => {
    const killed = kernelEventOf({
      kind: 'oom-kill',
      text: 'Out of memory: Killed process 9 (chrome)',
      comm: 'chrome',
      pid: 9,
    });
    const table = processTable(processOf({ pid: 99, args: '[java]' }));
    const cite = { entry: 'manifest.json', line: null, text: 'cmdline of 99 did not answer' };
    const facts = {
      ...withLog([hung(99), killed]),
      processes: { ...table, hung: [{ pid: 99, file: 'cmdline', cite }] },
    };
    expect(judge(elsewhere, facts)).toHaveLength(3);
    expect(diagnose(facts)).toMatchObject({ outcome: 'none', chain: null });
  });

  it('is silent where there is nothing to mention, and in a capture of the node, in which nobody is elsewhere', () => {
    expect(judge(elsewhere, withLog([]))).toEqual([]);
    expect(judge(elsewhere, factsOfBundle('healthy'))).toEqual([]);
    expect(judge(elsewhere, factsOfBundle('mmap-lock'))).toEqual([]);
  });
});
