import { describe, expect, it } from 'vitest';
import type { Facts, KernelEvent, Thread } from '../../../src/diagnosis/facts.ts';
import { netns } from '../../../src/diagnosis/rules/netns.ts';
import { factsOf, kernelEventOf, podThreads, STARTED_AT, threadOf } from '../facts-of.ts';
import { judge } from '../judge.ts';
import { COPY_NET_NS, GO_IDLE } from '../stacks.ts';

const message = (agoMs: number) =>
  kernelEventOf({
    ...{ kind: 'unregister-netdevice', text: 'unregister_netdevice: waiting for lo to become free. Usage count = 1' },
    time: STARTED_AT - agoMs,
  });
const runc = threadOf({ pid: 5834, tid: 5834, comm: 'runc:[1:CHILD]', role: 'runc', stack: COPY_NET_NS });
const withThreads = (own: readonly Thread[], events: readonly KernelEvent[], rest: Partial<Facts> = {}) =>
  factsOf({ threads: podThreads(...own), kernel: { events, from: STARTED_AT, to: STARTED_AT }, ...rest });

/** Not in the lab: stacks and messages are written by hand. */
describe('netns', () => {
  it('is proved by the message that goes on and a task that waits to make one', () => {
    expect(judge(netns, withThreads([runc], [message(24_000), message(4000)]))).toMatchObject([
      {
        verdict: 'proved',
        says: expect.stringContaining('the kernel cannot free interface lo of an old one (2 messages)'),
      },
    ]);
  });

  it('is likely without the message, or with one of long ago', () => {
    expect(judge(netns, withThreads([runc], []))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(netns, withThreads([runc], [message(3_600_000)]))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('is silent about the message alone, about CNI that hangs, and about others who make one', () => {
    expect(judge(netns, withThreads([], [message(4000)]))).toEqual([]);
    const cni = threadOf({
      pid: 900,
      tid: 900,
      comm: 'containerd',
      role: 'other',
      state: 'S',
      stack: GO_IDLE,
      idle: true,
    });
    expect(judge(netns, withThreads([cni], [message(4000)]))).toEqual([]);
    const nodeThreads = {
      blocked: [{ ...runc, role: 'other' as const, moved: 'once' as const }],
      stacks: 'all' as const,
    };
    expect(judge(netns, withThreads([], [message(4000)], { nodeThreads }))).toEqual([]);
  });

  it('proves nothing below 5 s', () => {
    expect(judge(netns, withThreads([{ ...runc, blockedForMs: 800 }], [message(100)]))).toMatchObject([
      { verdict: 'possible' },
    ]);
  });
});
