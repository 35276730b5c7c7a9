import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Facts, KernelEvent } from '../../../src/diagnosis/facts.ts';
import { elsewhere } from '../../../src/diagnosis/rules/elsewhere.ts';
import { hungTask } from '../../../src/diagnosis/rules/hung-task.ts';
import { factsOf, kernelEventOf, podThreads, STARTED_AT, threadOf } from '../facts-of.ts';
import { judge } from '../judge.ts';
import { factsOfMade } from '../made-bundle.ts';
import { UMOUNT_SYNC, UMOUNT2 } from '../stacks.ts';

const report = (partial: Partial<KernelEvent> = {}) =>
  kernelEventOf({
    ...{ kind: 'hung-task', text: 'INFO: task containerd-shim:2631 blocked for more than 122 seconds.' },
    ...{ comm: 'containerd-shim', pid: 2631, ofPod: true, hungForMs: 122_000 },
    ...partial,
  });
const hung = threadOf({ tid: 2631, call: UMOUNT2, stack: UMOUNT_SYNC, blockedForMs: 200_000 });
const withReport = (events: readonly KernelEvent[], rest: Partial<Facts> = {}) =>
  factsOf({ kernel: { events, from: STARTED_AT, to: STARTED_AT }, threads: podThreads(hung), ...rest });

describe('hung-task', () => {
  it('is proved by the report and the thread that is still in D', () => {
    expect(judge(hungTask, withReport([report(), report()]))).toMatchObject([
      {
        verdict: 'proved',
        ageMs: 200_000,
        says: expect.stringMatching(/reported thread 2631 of shim 2623 as hung 2 times, and it still is\.$/),
      },
    ]);
  });

  it('takes the word of the kernel where no thread was looked at', () => {
    expect(judge(hungTask, withReport([report()], { threads: null }))).toMatchObject([
      { verdict: 'likely', ageMs: 122_000 },
    ]);
  });

  it.each(['containerd', 'k3s-server'])('counts tasks of %s, which the pod depends on', comm => {
    const runtime = threadOf({
      pid: 812,
      tid: 820,
      comm,
      role: 'other',
      stack: UMOUNT_SYNC,
      moved: 'once',
    });
    const facts = withReport([report({ comm, pid: 820, ofPod: false })], {
      nodeThreads: { blocked: [runtime], stacks: 'all' },
    });
    expect(judge(hungTask, facts)).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining(`${comm} (thread 820)`) },
    ]);
  });

  it('reads a real report of 6.18, and what the trace says', () => {
    const text = readFileSync(new URL('../../fixtures/kernel-log/hung-task-6.18.kmsg', import.meta.url), 'utf8');
    const facts = factsOfMade({ entries: { 'logs/kernel.log': text }, target: { kind: 'node', how: 'asked for' } });
    expect(judge(hungTask, facts)).toMatchObject([
      { says: 'The kernel has reported touch 12180 as hung once, in percpu_rwsem_wait.' },
    ]);
  });

  it('mentions a task of another pod, and one that hangs no more, elsewhere, without blame', () => {
    for (const event of [report({ comm: 'java', pid: 99, ofPod: false }), report({ pid: 2699 })]) {
      expect(judge(hungTask, withReport([event]))).toEqual([]);
      expect(judge(elsewhere, withReport([event]))).toMatchObject([
        { kind: 'context', verdict: 'possible', links: [] },
      ]);
    }
    expect(judge(elsewhere, withReport([report()]))).toEqual([]);
  });

  it('knows that a pid may have been given to somebody else', () => {
    const threads = podThreads({ ...hung, comm: 'sleep' });
    expect(judge(hungTask, withReport([report()], { threads }))).toEqual([]);
  });
});
