import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/diagnosis/diagnose.ts';
import { type AnyRule, defineRule, type Finding, type Part } from '../../src/diagnosis/rule.ts';
import { rules } from '../../src/diagnosis/rules/index.ts';
import { callOf, factsOf, podThreads, processTable, threadOf } from './facts-of.ts';
import { factsOfBundle } from './fixture-bundle.ts';

const FINDING: Finding = {
  ...{ verdict: 'proved', says: 'It hangs.', because: [{ entry: 'x', line: 1, text: 'x' }], next: ['Wait.'] },
  ...{ ageMs: 60_000, ageFrom: 'the clock', links: [] },
};

const rule = (id: string, finding: Partial<Finding> = {}, more: Partial<AnyRule> = {}): AnyRule => ({
  ...defineRule({ id, title: id, kind: 'stall', needs: [], judge: () => [{ ...FINDING, ...finding }] }),
  ...more,
});

describe('a diagnosis', () => {
  it('has what is surest and has lasted longest first, and context last', () => {
    const order = diagnose(factsOf(), [
      rule('context', {}, { kind: 'context' }),
      rule('possible', { verdict: 'possible', ageMs: 900_000 }),
      rule('young', { ageMs: 6000 }),
      rule('likely', { verdict: 'likely' }),
      rule('old', { ageMs: 700_000 }),
    ]).findings.map(found => found.rule);
    expect(order).toEqual(['old', 'young', 'likely', 'possible', 'context']);
  });

  it('has what is waited for before who waits, whatever their ages', () => {
    const waits = (about: Part, waitsFor: readonly Part[]): Partial<Finding> => ({
      links: [{ says: 'x', about: [about], waitsFor }],
    });
    const order = (...made: readonly AnyRule[]) => diagnose(factsOf(), made).findings.map(found => found.rule);
    const delete_ = rule('delete', { ...waits('task:c1', ['thread:7']), ageMs: 900_000 });
    const umount = rule('umount', waits('thread:7', ['device:sda']));
    const disk = rule('disk', { ...waits('device:sda', []), verdict: 'likely', ageMs: 6000 });
    expect(order(delete_, umount, disk)).toEqual(['disk', 'umount', 'delete']);
    // What tells by itself how much it writes, and how fast, is said before the disk that is slow.
    const telling = rule('telling', { ...waits('thread:7', ['device:sda']), tellsWhy: true });
    expect(order(disk, delete_, telling)).toEqual(['telling', 'disk', 'delete']);
    const guess = rule('guess', { ...waits('thread:7', []), verdict: 'possible' });
    expect(order(guess, delete_)).toEqual(['delete', 'guess']);
    const circle = rule('circle', waits('thread:7', ['task:c1']));
    expect(order(circle, delete_).toSorted()).toEqual(['circle', 'delete']);
  });

  it.each([
    ['containerd-stopped', 'containerd-stopped'],
    ['disk-dead', 'disk-dead'],
    ['log-fifo-full', 'containerd-stopped'],
    ['overlay-mount-blocked', 'fs-frozen'],
    ['rootfs-busy', 'rootfs-busy'],
    ['runc-delete-held', 'runc-stuck'],
    ['state-behind-delete', 'overlay-umount-sync'],
    ['shim-stopped', 'shim-wedged'],
  ])('of %s says %s first, not what follows from it', (bundle, first) => {
    const { findings, outcome } = diagnose(factsOfBundle(bundle));
    expect({ outcome, first: findings[0]?.rule }).toEqual({ outcome: 'stall', first });
  });

  it('never calls a stall proved or likely that is younger than 5 s, or of which no age is known', () => {
    const verdicts = diagnose(factsOf(), [
      rule('young', { ageMs: 4999 }),
      rule('ageless', { ageMs: null, ageFrom: null }),
      rule('old', { ageMs: 5000 }),
      rule('context', { ageMs: null, ageFrom: null }, { kind: 'context' }),
    ]).findings.map(found => [found.rule, found.verdict]);
    expect(verdicts).toEqual([
      ['old', 'proved'],
      ['young', 'possible'],
      ['ageless', 'possible'],
      ['context', 'proved'],
    ]);
  });

  it('tells a rule that could not be applied from one that found nothing', () => {
    const empty = { judge: () => [] };
    const { ruledOut, notApplicable, outcome } = diagnose(factsOf({ threads: podThreads() }), [
      rule('clean', {}, { needs: ['threads'], ...empty }),
      rule('needs', {}, { needs: ['threads', 'goroutines'], ...empty }),
      rule('one-of', {}, { needsOneOf: ['kernel', 'threads'], ...empty }),
      rule('none-of', {}, { needsOneOf: ['kernel', 'devices'], ...empty }),
      rule('lacks', {}, { lacks: () => ['kernel stacks'], ...empty }),
    ]);
    expect(ruledOut.map(found => found.rule)).toEqual(['clean', 'one-of']);
    expect(notApplicable.map(found => [found.rule, found.missing])).toEqual([
      ['needs', ['a goroutine dump of the shim']],
      ['none-of', ["the kernel's log or disk counters (node/samples.jsonl)"]],
      ['lacks', ['kernel stacks']],
    ]);
    expect(outcome).toBe('none');
  });

  it('goes on when a rule fails, and takes none without evidence', () => {
    const { failed, findings } = diagnose(factsOf(), [
      rule('broken', {}, { judge: () => JSON.parse('{') }),
      rule('unfounded', { because: [] }),
      rule('sound'),
    ]);
    expect(failed.map(fault => fault.rule)).toEqual(['broken', 'unfounded']);
    expect(findings.map(found => found.rule)).toEqual(['sound']);
  });

  it('does not call a pod sound whose threads stand still for no known reason', () => {
    const stuck = threadOf({ call: callOf('ioctl', 16), stack: 'some_driver_wait+0x1/0x2' });
    const { outcome, unexplained } = diagnose(factsOf({ threads: podThreads(stuck) }), [
      rule('other', {}, { judge: () => [] }),
    ]);
    expect(outcome).toBe('unexplained');
    expect(unexplained).toMatchObject([{ thread: { tid: stuck.tid }, standstill: { ageMs: 20_000 } }]);
    const about = [{ says: 'x', about: [`thread:${stuck.tid}` as const], waitsFor: [] }];
    expect(diagnose(factsOf({ threads: podThreads(stuck) }), [rule('it', { links: about })])).toMatchObject({
      outcome: 'stall',
      unexplained: [],
    });
  });

  it.each([
    ['idles', { state: 'S', wchan: 'futex_do_wait', idle: true }],
    ['moved', { moved: 'moved' as const }],
    ['was seen once', { moved: 'once' as const }],
    ['has stood for less than 5 s', { blockedForMs: 4000 }],
    [
      'is a runc init that waits to be started',
      { role: 'runc init' as const, state: 'S', wchan: 'wait_for_partner', call: callOf('openat', 257) },
    ],
    ['is an application that sleeps', { role: 'init' as const, state: 'S', wchan: 'hrtimer_nanosleep' }],
  ])('says nothing of a thread that %s', (_, partial) => {
    const { outcome, unexplained } = diagnose(factsOf({ threads: podThreads(threadOf(partial)) }), []);
    expect({ outcome, unexplained }).toEqual({ outcome: 'none', unexplained: [] });
  });

  it('of a pod that is well finds no stall', () => {
    const { outcome, findings, chain, unexplained, failed } = diagnose(factsOfBundle('healthy'));
    expect({ outcome, findings, chain, unexplained, failed }).toEqual({
      outcome: 'none',
      findings: [],
      chain: null,
      unexplained: [],
      failed: [],
    });
  });
});

describe('the rules', () => {
  it('have names that are theirs alone, and say what they look for', () => {
    const ids = rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, title, needs, needsOneOf } of rules) {
      expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(title.length).toBeGreaterThan(10);
      expect(needs.length + (needsOneOf ?? []).length).toBeGreaterThan(0);
    }
  });

  it('find nothing where nothing was captured, and do not fail', () => {
    expect(diagnose(factsOf())).toMatchObject({ outcome: 'none', findings: [], failed: [], ruledOut: [] });
  });

  it('find nothing in a pod of which all was captured and nothing is wrong', () => {
    const sound = factsOf({
      ...{
        threads: podThreads(),
        nodeThreads: { blocked: [], stacks: 'all' },
        processes: processTable(),
        goroutines: [],
      },
      ...{
        daemonGoroutines: [],
        containers: [],
        shims: [],
        daemons: [],
        devices: { all: [], samples: 3, spanMs: 2000 },
      },
      ...{ fuse: [], mounts: { all: [], others: 0, chains: [] }, cgroups: { notable: [], counts: new Map() } },
      ...{ kernel: { events: [], from: null, to: null }, commands: [], stuckProbes: [], signals: [] },
    });
    expect(diagnose(sound)).toMatchObject({ outcome: 'none', findings: [], failed: [] });
  });
});
