import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { shimDead } from '../../../src/diagnosis/rules/shim-dead.ts';
import {
  CONTAINER_ID,
  containerOf,
  eventOf,
  factsOf,
  logsOf,
  processOf,
  processTable,
  SANDBOX_ID,
  shimOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const bundle = {
  files: ['config.json'],
  cite: cited(
    `containers/${CONTAINER_ID}/bundle.txt`,
    '# lstat of /run/containerd/io.containerd.runtime.v2.task/k8s.io/c1',
  ),
};
const disconnected = eventOf('shim-disconnected', { agoMs: 90_000, level: 'info', message: 'shim disconnected' });

const dead = (rest: Partial<Facts> = {}, shim: Parameters<typeof shimOf>[0] = {}) =>
  factsOf({
    shims: [shimOf({ alive: false, ...shim })],
    containers: [containerOf({ bundle })],
    processes: processTable(processOf({ pid: 2700, ppid: 1, args: 'sleep 1000' })),
    logs: logsOf([disconnected]),
    ...rest,
  });

describe('shim-dead', () => {
  it('is proved by the gone process, the bundle that is there, and the log', () => {
    const [found] = judge(shimDead, dead());
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 90_000,
      says: expect.stringContaining("The pod's shim is dead for 1 min 30 s"),
    });
    expect(found?.says).toContain('1 of its processes live on without it (2700)');
  });

  it('is possible at most without the time of its end: containerd may be about to clean up', () => {
    expect(judge(shimDead, dead({ logs: null }))).toMatchObject([{ verdict: 'possible', ageMs: null }]);
  });

  it('does not fire on the log of a containerd that was only restarted', () => {
    expect(judge(shimDead, dead({}, { alive: true }))).toEqual([]);
  });

  it('does not fire when the bundle is gone too: that is an end like any other', () => {
    expect(judge(shimDead, dead({ containers: [containerOf({ bundle: 'absent' })] }))).toEqual([]);
  });

  it('does not fire on a shim that was not looked at', () => {
    expect(judge(shimDead, dead({}, { alive: null }))).toEqual([]);
  });

  describe('of a pod of which only directories are left', () => {
    const paths = [
      `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${SANDBOX_ID}`,
      `/run/containerd/runc/k8s.io/${SANDBOX_ID}`,
    ];
    const remnant = (processes: Facts['processes'], left: readonly string[] = paths) =>
      factsOf({
        target: {
          target: {
            kind: 'remnant',
            asked: 'web-0',
            how: 'pod name',
            remnant: { what: 'w', pod: null, ids: [SANDBOX_ID], paths: left },
          },
          sandboxId: null,
        },
        processes,
        logs: logsOf([{ ...disconnected, container: SANDBOX_ID }]),
      });
    const shimRow = (stat = 'Sl') =>
      processOf({
        pid: 99,
        stat,
        args: `/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id ${SANDBOX_ID} -address /run/containerd/containerd.sock`,
      });

    it('is proved when no shim of the node serves it', () => {
      expect(
        judge(
          shimDead,
          remnant(processTable(processOf({ pid: 98, args: '/usr/bin/containerd-shim-runc-v2 -id other' }))),
        ),
      ).toMatchObject([{ verdict: 'proved' }]);
      expect(judge(shimDead, remnant(processTable(shimRow('Z'))))).toMatchObject([{ verdict: 'proved' }]);
    });

    it('does not fire when one does, or when no bundle is among them', () => {
      expect(judge(shimDead, remnant(processTable(shimRow())))).toEqual([]);
      expect(judge(shimDead, remnant(processTable(), paths.slice(1)))).toEqual([]);
    });
  });

  it('finds nothing in captures of living shims', () => {
    for (const name of [
      'healthy',
      'containerd-restarted',
      'containerd-dead',
      'shim-stopped',
      'shim-leaked',
      'create-timeout',
    ]) {
      expect(judge(shimDead, factsOfBundle(name))).toEqual([]);
    }
  });
});
