import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import type { ContainerCgroup, Facts, Freezer, Thread } from '../../../src/diagnosis/facts.ts';
import { freezer } from '../../../src/diagnosis/rules/freezer.ts';
import { CONTAINER_ID, containerOf, factsOf, podThreads, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { FREEZER_TRAP, REFRIGERATOR, UMOUNT_SYNC } from '../stacks.ts';

const PATH = '/kubepods/pod0d6f/c1c1';
const state = (word: Freezer['state']): Freezer => ({
  ...{ state: word, self: null },
  cite: { entry: `containers/${CONTAINER_ID}/cgroup.txt`, line: 71, text: `freezer.state: ${word}` },
});
const cgroup = (own: Freezer | null): ContainerCgroup => ({
  ...{ path: PATH, version: 1, freezer: own, pids: null, memory: null, cpu: null, ioLimits: [] },
});
const trapped = threadOf({
  pid: 2700,
  tid: 2700,
  comm: 'app',
  role: 'init',
  container: CONTAINER_ID,
  stack: REFRIGERATOR,
});
const withContainer = (own: Freezer | null, threads: readonly Thread[], rest: Partial<Facts> = {}) =>
  factsOf({ containers: [containerOf({ cgroup: cgroup(own) })], threads: podThreads(...threads), ...rest });

describe('freezer', () => {
  it('names the frozen container, and no other, in a real capture', () => {
    expect(judge(freezer, factsOfBundle('freezer'))).toMatchObject([
      { verdict: 'proved', says: expect.stringMatching(/^container app \(\w+\) is frozen for at least/) },
    ]);
  });

  it.each([
    ['v1', REFRIGERATOR, 'D'],
    ['v2', FREEZER_TRAP, 'S'],
  ])('is proved by the state and the place of a thread, on %s', (_, stack, letter) => {
    const thread = threadOf({ ...trapped, stack, state: letter });
    expect(judge(freezer, withContainer(state('FROZEN'), [thread]))).toMatchObject([
      { verdict: 'proved', ageMs: 20_000, links: [{ waitsFor: [`cgroup:${PATH}`] }, { about: [`cgroup:${PATH}`] }] },
    ]);
  });

  it('is likely by the state and a thread that stands where it slept when it was frozen (6.1 and later)', () => {
    const asleep = threadOf({ ...trapped, stack: '[<0>] hrtimer_nanosleep+0x74/0xf0', idle: true });
    expect(judge(freezer, withContainer(state('FROZEN'), [asleep]))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(freezer, withContainer(state('FROZEN'), []))).toMatchObject([{ verdict: 'possible', ageMs: null }]);
  });

  it('finds a frozen cgroup above that of the container', () => {
    const notable = [{ path: '/kubepods/pod0d6f', freezer: state('FROZEN'), pids: null }];
    const facts = withContainer(state('THAWED'), [trapped], { cgroups: { notable, counts: new Map() } });
    expect(judge(freezer, facts)).toMatchObject([
      { verdict: 'proved', links: [{ waitsFor: ['cgroup:/kubepods/pod0d6f'] }, {}] },
    ]);
    const other = [{ path: '/kubepods/pod0d', freezer: state('FROZEN'), pids: null }];
    expect(
      judge(freezer, withContainer(state('THAWED'), [], { cgroups: { notable: other, counts: new Map() } })),
    ).toEqual([]);
  });

  it('blames the task that resists, while a cgroup is FREEZING', () => {
    const resists = threadOf({ ...trapped, tid: 2701, stack: UMOUNT_SYNC });
    const [found] = judge(freezer, withContainer(state('FREEZING'), [trapped, resists]));
    expect(found?.says).toContain('is being frozen and cannot be: app 2701 in D');
    expect(found?.links.at(-1)).toMatchObject({ waitsFor: ['thread:2701'] });
  });

  it('reports a thawed cgroup with a task in the freezer as a fault of the kernel', () => {
    expect(judge(freezer, withContainer(state('THAWED'), [trapped]))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('a fault of the kernel') },
    ]);
  });

  it('knows a container that is paused on purpose', () => {
    const view = {
      source: 'docker',
      says: 'paused' as const,
      word: 'Paused',
      at: null,
      tookMs: null,
      cite: state('FROZEN').cite,
    };
    const base = withContainer(state('FROZEN'), [trapped]);
    const containers = [containerOf({ cgroup: cgroup(state('FROZEN')), views: [view] })];
    expect(judge(freezer, { ...base, containers })[0]?.says).toContain('paused by its runtime');
  });

  it('is silent about a thawed cgroup, whatever its threads wait for', () => {
    expect(judge(freezer, withContainer(state('THAWED'), [threadOf({ ...trapped, stack: UMOUNT_SYNC })]))).toEqual([]);
  });

  it('knows the init of a container by its pid, where nobody says whose thread it is', () => {
    const unnamed = { ...trapped, container: null };
    expect(judge(freezer, withContainer(state('FROZEN'), [unnamed]))).toMatchObject([{ verdict: 'proved' }]);
    const other = { ...trapped, container: null, pid: 9, tid: 9 };
    expect(judge(freezer, withContainer(state('FROZEN'), [other]))).toMatchObject([{ verdict: 'possible' }]);
  });

  it('cites the trap, not a thread that merely stands longer', () => {
    const older = threadOf({ ...trapped, stack: '[<0>] hrtimer_nanosleep+0x74/0xf0', tid: 2709, blockedForMs: 90_000 });
    const [found] = judge(freezer, withContainer(state('FROZEN'), [older, trapped]));
    expect(found?.because.map(({ text }) => text)).toContainEqual(expect.stringContaining('__refrigerator'));
    expect(found).toMatchObject({ verdict: 'proved', ageMs: 20_000 });
  });

  it.each([
    [1, 'freezer.state'],
    [2, 'cgroup.freeze'],
    ['hybrid', 'freezer.state'],
  ] as const)('says how to thaw it, on version %s', (cgroupVersion, file) => {
    const base = withContainer(state('FROZEN'), [trapped]);
    const [found] = judge(freezer, { ...base, capture: { ...base.capture, cgroupVersion } });
    expect(found?.next.join(' ')).toContain(file);
  });

  it("is not applicable where no freezer's state was captured", () => {
    const unread = (own: ContainerCgroup | 'absent' | null) => factsOf({ containers: [containerOf({ cgroup: own })] });
    expect(diagnose(unread(null), [freezer]).notApplicable).toHaveLength(1);
    expect(diagnose(unread(cgroup(null)), [freezer]).notApplicable).toHaveLength(1);
    expect(diagnose(unread(cgroup(state('THAWED'))), [freezer]).notApplicable).toEqual([]);
    // A cgroup that is gone holds nobody.
    expect(diagnose(unread('absent'), [freezer]).ruledOut).toHaveLength(1);
  });

  it('proves nothing below 5 s', () => {
    expect(judge(freezer, withContainer(state('FROZEN'), [{ ...trapped, blockedForMs: 2000 }]))).toMatchObject([
      { verdict: 'possible' },
    ]);
  });
});
