import { describe, expect, it } from 'vitest';
import type { DaemonGoroutines, Facts } from '../../../src/diagnosis/facts.ts';
import { containerdLock } from '../../../src/diagnosis/rules/containerd-lock.ts';
import { factsOf } from '../facts-of.ts';
import { CONTAINERD_PID, containerdDumps, judge } from '../judge.ts';

const LOG_LOCK = ['1.6.20-log-lock-1', '1.6.20-log-lock-2'];
/** Go counts minutes from the first garbage collection on: most dumps of a young stall have none. */
const withoutMinutes = (dumps: readonly DaemonGoroutines[]) =>
  dumps.map(dump => ({ ...dump, all: dump.all.map(goroutine => ({ ...goroutine, minutes: null })) }));
const lock = (daemonGoroutines: readonly DaemonGoroutines[]) => judge(containerdLock, factsOf({ daemonGoroutines }));

describe('containerd-lock', () => {
  it('is proved by a crowd that grows between two dumps, and names who may hold the lock', () => {
    const [found, ...others] = lock(withoutMinutes(containerdDumps(LOG_LOCK)));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 10_000,
      says: expect.stringContaining(
        '8 goroutines of containerd 812 wait for the lock of logrus.(*Entry).log for 10.0 s and more, 5 of them in the dump before',
      ),
    });
    expect(found?.says).toMatch(/Goroutine \d+ is inside and may hold it/);
    expect(found?.next[0]).toContain('Its log is not read');
    expect(found?.links[0]).toMatchObject({
      about: [`daemon:${CONTAINERD_PID}`],
      waitsFor: [expect.stringMatching(/^goroutine:812:/)],
    });
  });

  it('proves nothing with dumps 2 s apart, and nothing with one', () => {
    expect(lock(withoutMinutes(containerdDumps(LOG_LOCK, 2000)))).toMatchObject([{ verdict: 'possible', ageMs: 2000 }]);
    const [first] = lock(withoutMinutes(containerdDumps(LOG_LOCK.slice(1))));
    expect(first).toMatchObject({ verdict: 'possible', ageMs: null });
    expect(first?.next.join()).toContain('second dump');
  });

  it('takes the minutes where dumps have them', () => {
    expect(lock(containerdDumps(LOG_LOCK, 2000))).toMatchObject([{ verdict: 'proved', ageMs: 60_000 }]);
  });

  it('does not take minutes for a wait that are as many as the process has lived', () => {
    const daemons = [{ pid: CONTAINERD_PID, ageMs: 65_000 }] as unknown as Facts['daemons'];
    expect(
      judge(containerdLock, factsOf({ daemonGoroutines: containerdDumps(LOG_LOCK, 2000), daemons })),
    ).toMatchObject([{ verdict: 'possible', ageMs: 2000 }]);
  });

  it('is likely with one dump in which they have waited for minutes', () => {
    const [dump] = containerdDumps(LOG_LOCK.slice(1));
    const all = (dump?.all ?? []).map(goroutine => ({
      ...goroutine,
      minutes: goroutine.state === 'semacquire' ? 7 : null,
    }));
    expect(
      judge(containerdLock, factsOf({ daemonGoroutines: [{ ...(dump as DaemonGoroutines), all }] })),
    ).toMatchObject([{ verdict: 'likely', ageMs: 420_000 }]);
  });

  it('does not fire on a crowd that is the same in both dumps: one goroutine for each container', () => {
    const [, second] = containerdDumps(LOG_LOCK);
    const again =
      second === undefined
        ? []
        : [
            { ...second, sample: 1 },
            { ...second, sample: 2 },
          ];
    expect(lock(again)).toEqual([]);
  });

  it('does not fire on few, on a healthy containerd, and leaves the database to its own rule', () => {
    expect(lock(containerdDumps(['1.6.20-healthy']))).toEqual([]);
    expect(
      lock(
        containerdDumps(LOG_LOCK.slice(0, 1)).map(dump => ({
          ...dump,
          all: dump.all.filter(({ id }, index) => index % 2 === 0 || id === 0),
        })),
      ),
    ).toEqual([]);
    expect(lock(containerdDumps(['1.6.20-bolt-fdatasync-1', '1.6.20-bolt-fdatasync-2']))).toEqual([]);
  });
});
