import { expect, test } from 'vitest';
import { sweep } from '../../src/collectors/sweep.ts';
import { broughtBy, captureOn, POD } from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

test('on a node with many CPUs the clocks of those are asked first that threads of the shim are on', async () => {
  const stat = Array.from({ length: 256 }, (_, cpu) => `cpu${cpu} 1 2 3\n`).join('');
  const paper = new PaperHost({ '/proc/stat': `cpu  1 2 3\n${stat}` });
  const asked: number[] = [];
  const swept = {
    outcome: 'ok',
    processes: Buffer.alloc(0),
    blocked: Buffer.alloc(0),
    threadCount: 0,
    blockedCount: 0,
  };
  Object.assign(paper, {
    async cpuClocks(cpus: readonly number[]) {
      asked.push(...cpus);
      return new Map();
    },
    sweep: async () => ({ ...swept, hung: [], offsetMs: 0, durationMs: 1 }),
  });
  const onCpu = (cpu: number) => ({
    ...{ tid: 2630, wchan: null, sched: null, syscall: null, stack: null, errors: {} },
    stat: `2630 (containerd-shim) D 1 ${'0 '.repeat(17)}92682 ${'0 '.repeat(16)}${cpu} 0 0 0\n`,
  });
  const shim = { ...{ pid: 2623, comm: 'containerd-shim', status: null, stat: null, cwd: null, clock: null } };
  const look = { ...shim, threads: [onCpu(200), onCpu(77)], offsetMs: 0, durationMs: 1, outcome: 'ok' as const };
  const capture = captureOn(paper.host, { sandbox: POD });
  await broughtBy(sweep, { ...capture, firstLook: { matchedBy: 'id', shims: [look], firstStackMs: 1 } });
  expect(asked.slice(0, 3)).toEqual([200, 77, 0]);
  expect(asked).toHaveLength(256);
});
