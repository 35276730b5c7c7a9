import { describe, expect, it } from 'vitest';
import type { Facts, Process } from '../../../src/diagnosis/facts.ts';
import { pidnsNotEmpty } from '../../../src/diagnosis/rules/pidns-not-empty.ts';
import {
  CONTAINER_ID,
  containerOf,
  factsOf,
  podThreads,
  processOf,
  processTable,
  SHIM_PID,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { FUSE_STAT, GO_IDLE, ZAP_PID_NS } from '../stacks.ts';

const init = threadOf({
  pid: 2700,
  tid: 2700,
  comm: 'app',
  role: 'init',
  container: CONTAINER_ID,
  state: 'S',
  stack: ZAP_PID_NS,
});
const left = threadOf({
  pid: 2710,
  tid: 2710,
  comm: 'dd',
  role: 'other',
  stack: FUSE_STAT,
  moved: 'once',
  entry: 'node/blocked.txt',
});
const row = processOf({ pid: 2700, ppid: SHIM_PID, args: '[app]' });
const withProcesses = (rows: readonly Process[], rest: Partial<Facts> = {}) =>
  factsOf({
    ...{ threads: podThreads(init), nodeThreads: { blocked: [left], stacks: 'all' }, containers: [containerOf()] },
    processes: processTable(row, ...rows),
    ...rest,
  });

describe('pidns-not-empty', () => {
  it('names the process that does not end and what it waits for, in a real capture', () => {
    const [found] = judge(pidnsNotEmpty, factsOfBundle('pidns-not-empty'));
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringMatching(
        /waits for the last process of its pid namespace: \d+ \(dd\) is still there, in state D in request_wait_answer\.$/,
      ),
    });
  });

  it.each(['S', 'D'])('is proved by init in %s and a task that lives', letter => {
    const threads = podThreads({ ...init, state: letter });
    const [found] = judge(
      pidnsNotEmpty,
      withProcesses([processOf({ pid: 2710, ppid: 2700, stat: 'D', args: 'dd' })], { threads }),
    );
    expect(found).toMatchObject({ verdict: 'proved', ageMs: 20_000 });
    expect(found?.links).toMatchObject([
      { waitsFor: ['process:2710', 'thread:2710'] },
      { about: ['process:2710', 'thread:2710'] },
    ]);
  });

  it('finds a process of `runc exec`, which is no child of init', () => {
    const execed = { ...left, container: CONTAINER_ID, role: 'application' as const };
    const rows = [processOf({ pid: 2710, ppid: SHIM_PID, stat: 'D', args: 'dd' })];
    const threads = podThreads(init, execed);
    expect(judge(pidnsNotEmpty, withProcesses(rows, { threads }))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('blames the reaper of the shim where only zombies are left that it should collect', () => {
    const zombie = threadOf({
      pid: 2711,
      tid: 2711,
      comm: 'sh',
      role: 'application',
      container: CONTAINER_ID,
      state: 'Z',
      stack: '',
    });
    const rows = [processOf({ pid: 2711, ppid: SHIM_PID, stat: 'Z', args: '[sh] <defunct>' })];
    expect(judge(pidnsNotEmpty, withProcesses(rows, { threads: podThreads(init, zombie) }))).toMatchObject([
      { verdict: 'likely', says: expect.stringContaining(`their parent ${SHIM_PID} does not collect them`) },
    ]);
  });

  it('is likely where the others are not known', () => {
    expect(judge(pidnsNotEmpty, withProcesses([], { processes: null }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('is silent about an init that merely waits for its children, one that moves, and a zombie', () => {
    const threads = [
      threadOf({ ...init, stack: '[<0>] do_wait+0x53/0x120\n[<0>] kernel_wait4+0x9c/0x140' }),
      threadOf({ ...init, stack: GO_IDLE }),
      { ...init, moved: 'moved' as const },
      { ...init, state: 'Z' },
    ];
    for (const thread of threads)
      expect(judge(pidnsNotEmpty, withProcesses([], { threads: podThreads(thread) }))).toEqual([]);
  });

  it('proves nothing below 5 s', () => {
    const rows = [processOf({ pid: 2710, ppid: 2700, stat: 'D', args: 'dd' })];
    const threads = podThreads({ ...init, blockedForMs: 1000 });
    expect(judge(pidnsNotEmpty, withProcesses(rows, { threads }))).toMatchObject([{ verdict: 'possible' }]);
  });
});
