import { describe, expect, it } from 'vitest';
import type { CommandFact, Facts } from '../../../src/diagnosis/facts.ts';
import { shimLeaked } from '../../../src/diagnosis/rules/shim-leaked.ts';
import { CONTAINER_ID, containerOf, factsOf, SHIM_PID, shimOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const look = (blockedForMs: number) => ({
  tid: SHIM_PID,
  state: 'S',
  wchan: null,
  call: null,
  blockedForMs,
  cite: cited('shim/threads-1.txt', `${SHIM_PID}`),
});
const unknown: CommandFact = {
  ...{
    tool: 'ctr',
    what: `containers info ${CONTAINER_ID}`,
    argv: ['ctr', 'containers', 'info', CONTAINER_ID],
    outcome: 'error',
    exitCode: 1,
    durationMs: 12,
    at: null,
  },
  stderr: `ctr: container "${CONTAINER_ID}" in namespace "k8s.io": not found`,
  cite: cited('runtime/ctr-commands.jsonl', 'not found'),
};

const leaked = (shim: Parameters<typeof shimOf>[0], rest: Partial<Facts> = {}) =>
  factsOf({
    shims: [shimOf({ children: [], bundleDeleted: true, firstLook: [look(600_000)], ...shim })],
    containers: [containerOf({ init: 'gone' })],
    ...rest,
  });

describe('shim-leaked', () => {
  it('is proved by a deleted bundle under a shim that has been quiet for long', () => {
    expect(judge(shimLeaked, leaked({}))).toMatchObject([
      { kind: 'context', verdict: 'proved', ageMs: null, says: expect.stringContaining('has deleted its bundle') },
    ]);
  });

  it('is likely by its absence from the records, and while it may be on its way out', () => {
    expect(judge(shimLeaked, leaked({ bundleDeleted: false }, { commands: [unknown] }))).toMatchObject([
      { verdict: 'likely', says: expect.stringContaining('no record of it') },
    ]);
    expect(judge(shimLeaked, leaked({ firstLook: [look(600_000), look(300)] }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('says which processes live on below one that containerd has given up', () => {
    const child = { pid: 2700, ppid: SHIM_PID, state: 'S', comm: 'postgres', cite: cited('shim/children.txt', '2700') };
    expect(judge(shimLeaked, leaked({ children: [child] }))[0]?.says).toContain(
      '1 of its processes live on (2700 postgres)',
    );
  });

  it('does not fire on a shim without children that containerd knows: its parent being PID 1 says nothing', () => {
    expect(judge(shimLeaked, leaked({ bundleDeleted: false }))).toEqual([]);
    expect(
      judge(
        shimLeaked,
        leaked({ bundleDeleted: false }, { commands: [{ ...unknown, stderr: 'ctr: failed to dial: timeout' }] }),
      ),
    ).toEqual([]);
  });

  it('does not fire on one with children whose records are gone: the pod is being stopped', () => {
    const child = { pid: 2700, ppid: SHIM_PID, state: 'S', comm: 'sleep', cite: cited('shim/children.txt', '2700') };
    expect(judge(shimLeaked, leaked({ bundleDeleted: false, children: [child] }, { commands: [unknown] }))).toEqual([]);
  });

  it('does not fire on one that ended during the capture, or whose children are not known', () => {
    expect(judge(shimLeaked, leaked({ alive: false }))).toEqual([]);
    expect(judge(shimLeaked, leaked({ children: null }))).toEqual([]);
  });

  it('finds the one that the lab has leaked, and none beside it', () => {
    expect(judge(shimLeaked, factsOfBundle('shim-leaked'))).toMatchObject([
      { kind: 'context', says: expect.stringContaining('is left over') },
    ]);
    for (const name of ['healthy', 'containerd-restarted', 'exit-event-lost', 'shim-stopped'])
      expect(judge(shimLeaked, factsOfBundle(name))).toEqual([]);
  });
});
