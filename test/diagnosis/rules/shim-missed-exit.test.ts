import { describe, expect, it } from 'vitest';
import type { Facts, ShimAnswer } from '../../../src/diagnosis/facts.ts';
import { shimMissedExit } from '../../../src/diagnosis/rules/shim-missed-exit.ts';
import { CONTAINER_ID, containerOf, factsOf, podThreads, SHIM_PID, shimOf, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge, shimDump, shimDumpOf } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const child = (pid: number, state = 'S') => ({
  pid,
  ppid: SHIM_PID,
  state,
  comm: 'sleep',
  cite: cited('shim/children.txt', `${pid} ${SHIM_PID} ${state}`),
});
const look = (blockedForMs: number) => ({
  tid: SHIM_PID,
  state: 'S',
  wchan: null,
  call: null,
  blockedForMs,
  cite: cited('shim/threads-1.txt', `${SHIM_PID}`),
});
const answerOf = (status: ShimAnswer['status']): ShimAnswer => ({
  ...{ status, pid: 2700, exitStatus: null, exitedAt: null, tookMs: 3 },
  cite: cited('runtime/views.json', status),
});

const missed = (rest: Partial<Facts> = {}, container: Parameters<typeof containerOf>[0] = {}) =>
  factsOf({
    containers: [containerOf({ init: 'gone', shimAnswer: answerOf('RUNNING'), ...container })],
    shims: [shimOf({ children: [child(2650)], firstLook: [look(30_000)] })],
    threads: podThreads(),
    goroutines: [shimDump('1.6.20-healthy')],
    ...rest,
  });

describe('shim-missed-exit', () => {
  it('is proved by a task that runs as a process that is gone and no child of the shim', () => {
    const [found] = judge(shimMissedExit, missed());
    expect(found).toMatchObject({ verdict: 'proved', ageMs: 30_000, says: expect.stringContaining('missed the exit') });
    expect(found?.links[0]?.about).toContain(`task:${CONTAINER_ID}`);
  });

  it('is possible at most when nobody knows since when', () => {
    expect(judge(shimMissedExit, missed({ shims: [shimOf({ children: [] })] }))).toMatchObject([
      { verdict: 'possible', ageMs: null },
    ]);
  });

  it('does not fire when the task is stopped, the shim did not answer, or was not asked', () => {
    for (const status of ['STOPPED', 'timeout', 'CREATED'] as const)
      expect(judge(shimMissedExit, missed({}, { shimAnswer: answerOf(status) }))).toEqual([]);
    expect(judge(shimMissedExit, missed({}, { shimAnswer: null }))).toEqual([]);
  });

  it('does not fire while the process is there, or its children are not known', () => {
    expect(judge(shimMissedExit, missed({ shims: [shimOf({ children: [child(2700)] })] }))).toEqual([]);
    expect(judge(shimMissedExit, missed({ shims: [shimOf({ children: null })] }))).toEqual([]);
    expect(judge(shimMissedExit, missed({}, { init: 'alive' }))).toEqual([]);
  });

  it('does not fire when the shim is stopped or dead', () => {
    for (const shim of [{ state: 'T' }, { alive: false }])
      expect(judge(shimMissedExit, missed({ shims: [shimOf({ children: [], ...shim })] }))).toEqual([]);
  });

  it('does not fire when what takes exits is held up: they wait, and are not missed', () => {
    const held = shimDumpOf(`goroutine 21 [semacquire, 3 minutes]:
sync.runtime_SemacquireMutex(0xc0001d00f0?, 0x1?, 0xc00009a358?)
	runtime/sema.go:77 +0x25
sync.(*Mutex).lockSlow(0xc0000ac700)
	sync/mutex.go:171 +0x165
sync.(*Mutex).Lock(...)
	sync/mutex.go:90
github.com/containerd/containerd/pkg/process.(*Init).SetExited(0xc0000ac6e0, 0x0)
	github.com/containerd/containerd/pkg/process/init.go:263 +0x46
github.com/containerd/containerd/runtime/v2/runc/task.(*service).checkProcesses(0xc0000b6000, {0xc0, 0x1, 0x2})
	github.com/containerd/containerd/runtime/v2/runc/task/service.go:590 +0x1fa
github.com/containerd/containerd/runtime/v2/runc/task.(*service).processExits(0xc0000b6000)
	github.com/containerd/containerd/runtime/v2/runc/task/service.go:570 +0x8a
`);
    expect(judge(shimMissedExit, missed({ goroutines: [held] }))).toEqual([]);
  });

  it('finds a zombie that its shim does not reap', () => {
    const zombie = threadOf({
      pid: 2700,
      tid: 2700,
      role: 'init',
      container: CONTAINER_ID,
      state: 'Z',
      stack: null,
      blockedForMs: 9000,
    });
    const facts = missed(
      { shims: [shimOf({ children: [child(2700, 'Z')] })], threads: podThreads(zombie) },
      { init: 'zombie' },
    );
    expect(judge(shimMissedExit, facts)).toMatchObject([
      { verdict: 'likely', ageMs: 9000, says: expect.stringContaining('zombie for 9.0 s') },
    ]);
    const fresh = { ...facts, threads: podThreads({ ...zombie, blockedForMs: 100 }) };
    expect(judge(shimMissedExit, fresh)).toMatchObject([{ verdict: 'possible' }]);
  });

  it('finds nothing in captures of other kinds', () => {
    for (const name of [
      'healthy',
      'containerd-restarted',
      'exit-event-lost',
      'shim-stopped',
      'runc-delete-held',
      'containerd-stopped',
    ]) {
      expect(judge(shimMissedExit, factsOfBundle(name))).toEqual([]);
    }
  });
});
