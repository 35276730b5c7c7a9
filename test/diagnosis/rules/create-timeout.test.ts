import { describe, expect, it } from 'vitest';
import type { Facts, LogEvent } from '../../../src/diagnosis/facts.ts';
import { createTimeout } from '../../../src/diagnosis/rules/create-timeout.ts';
import {
  CONTAINER_ID,
  containerOf,
  eventOf,
  factsOf,
  logsOf,
  podThreads,
  processOf,
  processTable,
  SHIM_PID,
  shimOf,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge, shimDump } from '../judge.ts';

/** Hand-written, in containerd's and the kubelet's words. */
const asked = eventOf('start-requested', { agoMs: 130_000, message: `StartContainer for "${CONTAINER_ID}"` });
const failed = (
  agoMs = 10_000,
  error = 'failed to create containerd task: failed to create shim task: context deadline exceeded: unknown',
) => eventOf('start-failed', { agoMs, message: `StartContainer for "${CONTAINER_ID}" failed`, error });

const withRunc = (runcAgeMs: number, events: readonly LogEvent[], rest: Partial<Facts> = {}) =>
  factsOf({
    threads: podThreads(threadOf({ pid: 5834, tid: 5834, comm: 'runc', role: 'runc' })),
    processes: processTable(
      processOf({ pid: 5834, ppid: SHIM_PID, ageMs: runcAgeMs, args: `runc create ${CONTAINER_ID}` }),
    ),
    containers: [containerOf()],
    shims: [shimOf()],
    logs: logsOf(events),
    ...rest,
  });

describe('create-timeout', () => {
  it('is proved by the failed start and the runc that is still there', () => {
    const [found] = judge(createTimeout, withRunc(129_000, [asked, failed()]));
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 130_000,
      says: expect.stringContaining('ran into its deadline after 2 min'),
    });
    expect(found?.says).toContain('runc create 5834 is still there');
    expect(found?.links).toMatchObject([
      { about: [`belief:${CONTAINER_ID}`], waitsFor: [`task:${CONTAINER_ID}`, 'process:5834'] },
    ]);
  });

  it("takes the kubelet's word as well", () => {
    const kubelet = eventOf('start-failed', {
      agoMs: 10_000,
      source: 'kubelet',
      message: 'StartContainer from runtime service failed',
      error: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    });
    expect(judge(createTimeout, withRunc(129_000, [kubelet]))).toMatchObject([{ verdict: 'proved', ageMs: 129_000 }]);
  });

  it('is likely when the runc belongs to the next attempt', () => {
    expect(judge(createTimeout, withRunc(6000, [asked, failed(20_000)]))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('is likely when only the goroutine of the create is known to be there', () => {
    const goroutines = [shimDump('1.6.20-runc-create-wait')];
    const facts = withRunc(0, [asked, failed()], { goroutines, threads: null, processes: null });
    expect(judge(createTimeout, facts)).toMatchObject([
      { verdict: 'likely', says: expect.stringContaining('still in Create') },
    ]);
  });

  it('does not fire when nothing hangs any more', () => {
    const facts = withRunc(0, [asked, failed()], { threads: podThreads(), goroutines: [shimDump('1.6.20-healthy')] });
    expect(judge(createTimeout, facts)).toEqual([]);
  });

  it('does not fire on a runc that takes long without having failed, nor on another failure', () => {
    expect(judge(createTimeout, withRunc(60_000, [asked]))).toEqual([]);
    expect(
      judge(
        createTimeout,
        withRunc(60_000, [asked, failed(10_000, 'OCI runtime create failed: no such file or directory')]),
      ),
    ).toEqual([]);
  });

  it('does not take the deadline of a plugin or of a single call for that of the start', () => {
    const cni = eventOf('cni-failed', {
      message: 'failed to setup network for sandbox',
      error: 'context deadline exceeded',
    });
    const ttrpc = eventOf('state-timeout', {
      message: `get state for ${CONTAINER_ID}`,
      error: 'context deadline exceeded: unknown',
    });
    expect(judge(createTimeout, withRunc(60_000, [asked, cni, ttrpc]))).toEqual([]);
  });

  it('finds the start that hangs on a frozen disk', () => {
    expect(judge(createTimeout, factsOfBundle('create-timeout'))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('is still in Create') },
    ]);
  });
});
