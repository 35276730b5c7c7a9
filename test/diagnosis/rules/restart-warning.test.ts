import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { restartWarning } from '../../../src/diagnosis/rules/restart-warning.ts';
import { containerOf, eventOf, factsOf, logsOf, podThreads, SHIM_PID, shimOf, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge, shimDump } from '../judge.ts';

const connect = (answered: boolean, tookMs: number) => ({
  answered,
  tookMs,
  cite: { entry: 'runtime/views.json', line: 3, text: `Connect ${answered}` },
});
const warned = (shim: Parameters<typeof shimOf>[0], rest: Partial<Facts> = {}) =>
  judge(restartWarning, factsOf({ shims: [shimOf(shim)], containers: [containerOf()], ...rest }));

describe('restart-warning', () => {
  it('is certain of a shim that did not answer Connect for as long as containerd would wait, and says what would be lost', () => {
    expect(warned({ connect: connect(false, 5000) })).toMatchObject([
      {
        kind: 'context',
        verdict: 'proved',
        says: expect.stringContaining('shim 2623 has not answered Connect in 5.0 s'),
        ageMs: null,
      },
    ]);
    expect(warned({ connect: connect(false, 5000) })[0]?.says).toContain('kill what runs in it (app)');
  });

  it('is likely when it was not given that long', () => {
    expect(warned({ connect: connect(false, 2000) })).toMatchObject([{ verdict: 'likely' }]);
  });

  it('goes by a stopped shim, and by the lock that Connect needs, where it was not asked', () => {
    const threads = podThreads(threadOf({ tid: SHIM_PID, state: 'T' }));
    expect(warned({ state: 'T' }, { threads })).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('is stopped for 20.0 s') },
    ]);
    const dump = shimDump('1.6.20-runc-create-wait');
    const [holder = null] = dump.all.filter(({ rpc }) => rpc === 'Create');
    const locks = [
      { name: 'service.mu', address: null, holder, operation: 'Create', joinedBy: 'alone', waiters: [] },
    ] as const;
    expect(warned({}, { goroutines: [{ ...dump, locks }] })).toMatchObject([
      { verdict: 'likely', says: expect.stringContaining('the lock that Connect needs') },
    ]);
  });

  it('says that dockerd restarts its containerd by itself', () => {
    const logs = logsOf([
      eventOf('health-check-failed', {
        source: 'docker',
        container: null,
        message: 'killing and restarting containerd',
      }),
    ]);
    expect(warned({ connect: connect(false, 5000) }, { logs })[0]?.next.join()).toContain('by itself');
  });

  it('does not warn of a shim that answers, whatever hangs in it', () => {
    expect(warned({ connect: connect(true, 4) }, { goroutines: [shimDump('1.6.20-umount-in-delete')] })).toEqual([]);
    expect(warned({}, { goroutines: [shimDump('1.6.20-umount-in-delete')] })).toEqual([]);
    expect(warned({})).toEqual([]);
  });

  it('does not warn of one that is dead, or given up already', () => {
    expect(warned({ alive: false, connect: connect(false, 5000) })).toEqual([]);
    expect(warned({ bundleDeleted: true, connect: connect(false, 5000) })).toEqual([]);
  });

  it('warns in captures where a restart would destroy something, and in no other', () => {
    for (const name of ['shim-stopped', 'create-timeout'])
      expect(judge(restartWarning, factsOfBundle(name))).toHaveLength(1);
    for (const name of [
      'healthy',
      'containerd-stopped',
      'containerd-restarted',
      'exit-event-lost',
      'runc-delete-held',
      'state-behind-delete',
    ]) {
      expect(judge(restartWarning, factsOfBundle(name))).toEqual([]);
    }
  });
});
