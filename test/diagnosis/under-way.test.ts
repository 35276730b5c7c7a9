import { describe, expect, it } from 'vitest';
import type { Belief, ContainerFacts, View } from '../../src/diagnosis/facts.ts';
import { isUnderWay } from '../../src/diagnosis/under-way.ts';
import type { Shim } from '../../src/sandbox/types.ts';
import { containerOf, factsOf, logsOf, SHIM_PID } from './facts-of.ts';

const said = (source: string, says: Belief): View => ({
  ...{ source, says, word: says, at: null, tookMs: null },
  cite: { entry: 'runtime/views.json', line: 1, text: says },
});

/** A pod whose shim is this program, and whose container has no init on the node. */
const podOf = (exe: string | null, ...views: readonly View[]) => {
  const facts = factsOf({ containers: [containerOf({ initPid: null, init: null, views })], logs: logsOf([]) });
  const { target } = facts.target;
  if (target.kind !== 'sandbox') throw new Error('a pod has a sandbox');
  const shim = { pid: SHIM_PID, exe, argv: null } as Shim;
  return {
    ...facts,
    target: { ...facts.target, target: { ...target, sandbox: { ...target.sandbox, shims: [shim] } } },
  };
};

const RUNC = '/usr/bin/containerd-shim-runc-v2';
const KATA = '/opt/kata/bin/containerd-shim-kata-v2';
const RUNNING = said('CRI status file', 'running');

describe('something is to be done for a pod', () => {
  it('without an init of its container, which is being made, or is deleted while CRI calls it running', () => {
    expect(isUnderWay(podOf(RUNC))).toBe(true);
    expect(isUnderWay(podOf(RUNC, RUNNING))).toBe(true);
    expect(isUnderWay(podOf(null, RUNNING))).toBe(true);
  });

  it('of kata, whose containers have no init on the node, when one of those who know of it does not call it running', () => {
    expect(isUnderWay(podOf(KATA))).toBe(true);
    expect(isUnderWay(podOf(KATA, said('shim', 'created')))).toBe(true);
    expect(isUnderWay(podOf(KATA, RUNNING, said('shim', 'exited')))).toBe(true);
    expect(isUnderWay(podOf(KATA, said('runc', 'absent'), RUNNING))).toBe(false);
    expect(isUnderWay(podOf(KATA, said('shim', 'paused'), said('crictl', 'unknown')))).toBe(false);
  });

  it('with an init, when that has ended or CRI has not written its start', () => {
    const of = (partial: Partial<ContainerFacts>) =>
      isUnderWay(factsOf({ containers: [containerOf(partial)], logs: logsOf([]) }));
    expect(of({})).toBe(false);
    expect(of({ init: 'zombie' })).toBe(true);
    expect(of({ init: 'gone' })).toBe(true);
  });
});
