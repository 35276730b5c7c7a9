import { describe, expect, it } from 'vitest';
import type { ContainerCgroup, Facts, Process } from '../../../src/diagnosis/facts.ts';
import { systemdDbus } from '../../../src/diagnosis/rules/systemd-dbus.ts';
import {
  CONTAINER_ID,
  callOf,
  containerOf,
  eventOf,
  factsOf,
  logsOf,
  podThreads,
  processOf,
  processTable,
  SHIM_PID,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const cgroup = (path: string, freezer: ContainerCgroup['freezer'] = null): ContainerCgroup => ({
  ...{ path, version: 2, freezer, pids: null, memory: null, cpu: null },
  ioLimits: [],
});
const SCOPE = `/kubepods.slice/kubepods-pod1.slice/cri-containerd-${CONTAINER_ID}.scope`;

const runc = (partial: Partial<Process> = {}) =>
  processOf({
    pid: 5834,
    ppid: SHIM_PID,
    ageMs: 95_000,
    args: `/usr/sbin/runc --root /run/containerd/runc/k8s.io delete ${CONTAINER_ID}`,
    ...partial,
  });
const manager = (stat: string) => processOf({ pid: 1, ppid: 0, stat, args: '/lib/systemd/systemd --system' });
const idle = threadOf({
  pid: 5834,
  tid: 5834,
  comm: 'runc',
  role: 'runc',
  state: 'S',
  idle: true,
  wchan: 'do_epoll_wait',
  call: callOf('epoll_pwait', 281),
});
/** Hand-written. */
const dbus = eventOf('dbus-failed', {
  container: null,
  message: 'unable to apply cgroup configuration',
  error: 'Message recipient disconnected from message bus without replying',
});

const waiting = (rest: Partial<Facts> = {}) =>
  factsOf({
    processes: processTable(manager('Rs'), runc()),
    threads: podThreads(idle),
    containers: [containerOf({ cgroup: cgroup(SCOPE) })],
    logs: logsOf([dbus]),
    ...rest,
  });

describe('systemd-dbus', () => {
  it('is proved by old idle runc processes, a busy PID 1 and the word of dbus', () => {
    const [found] = judge(systemdDbus, waiting());
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 95_000,
      says: expect.stringContaining(
        '1 runc process waits for systemd, the oldest for 1 min 35 s, and PID 1 is busy (Rs)',
      ),
    });
    expect(found?.links).toMatchObject([{ about: ['process:5834'], waitsFor: ['process:1'] }]);
  });

  it('is likely with one of the two', () => {
    expect(judge(systemdDbus, waiting({ logs: null }))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(systemdDbus, waiting({ processes: processTable(manager('Ss'), runc()) }))).toMatchObject([
      { verdict: 'likely' },
    ]);
  });

  it('does not fire with neither: an idle runc may wait for anything', () => {
    expect(judge(systemdDbus, waiting({ logs: null, processes: processTable(manager('Ss'), runc()) }))).toEqual([]);
  });

  it('does not fire where runc makes the cgroups itself', () => {
    expect(
      judge(systemdDbus, waiting({ containers: [containerOf({ cgroup: cgroup(`/kubepods/pod1/${CONTAINER_ID}`) })] })),
    ).toEqual([]);
  });

  it('does not fire on a frozen cgroup, for which runc waits as well', () => {
    const frozen = cgroup(SCOPE, { state: 'FREEZING', self: true, cite: cited('cgroup.txt', 'FREEZING') });
    expect(judge(systemdDbus, waiting({ containers: [containerOf({ cgroup: frozen })] }))).toEqual([]);
  });

  it('does not fire on a runc that is young, in D, busy elsewhere, or waits for a child', () => {
    for (const other of [runc({ ageMs: 4000 }), runc({ stat: 'D' }), runc({ args: `runc start ${CONTAINER_ID}` })]) {
      expect(judge(systemdDbus, waiting({ processes: processTable(manager('Rs'), other) }))).toEqual([]);
    }
    expect(judge(systemdDbus, waiting({ threads: podThreads({ ...idle, idle: false }) }))).toEqual([]);
    const withChild = processTable(manager('Rs'), runc(), processOf({ pid: 5840, ppid: 5834, args: 'runc init' }));
    expect(judge(systemdDbus, waiting({ processes: withChild }))).toEqual([]);
  });

  it('finds nothing in captures', () => {
    for (const name of ['healthy', 'runc-delete-held', 'runc-create-held', 'freezer'])
      expect(judge(systemdDbus, factsOfBundle(name))).toEqual([]);
  });
});
