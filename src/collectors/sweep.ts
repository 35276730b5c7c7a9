import type { Evidence } from '../bundle/evidence.ts';
import { processorOf } from '../formats/proc/cpu-clocks.ts';
import type { SweepResult } from '../host/port.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf } from './evidence-of.ts';
import { processTree } from './process-tree.ts';

/** Note: of how many processes the command line hung. */
export const HANGING_CMDLINES = 'sweep: command lines that hang';
/** Note: how many threads the node has. */
export const NODE_THREADS = 'sweep: threads of the node';

/**
 * Every thread of the node: `node/processes.txt` in the columns of ps, `node/blocked.txt` with syscall and stack of each
 * thread in D and of each thread of the pod's tree in any state.
 */
export const sweep: Collector = {
  name: 'sweep',
  phase: 'sweep',
  deadlineMs: 8000,
  async *collect(capture) {
    const deadline = deadlineOf(capture);
    // Which CPUs the threads in D are on is not known yet.
    const clocks = await capture.host.cpuClocks(cpusToAsk(capture), deadlineOf(capture, 500));
    const result = await capture.host.sweep({ tree: podTree(capture), clocks }, deadline);
    capture.notes.set(HANGING_CMDLINES, result.hung.filter(({ file }) => file.endsWith('cmdline')).length);
    capture.notes.set(NODE_THREADS, result.threadCount);
    yield entry(
      'node/processes.txt',
      '/proc/*/{stat,status,cmdline} /proc/*/task/*/{stat,wchan}',
      result.processes,
      result,
    );
    yield entry('node/blocked.txt', '/proc/*/task/*/{stat,wchan,sched,syscall,stack}', result.blocked, result);
  },
};

/** The shims, all that is below them, and the inits, which are elsewhere once their shim is dead. */
function podTree(capture: Capture): readonly number[] {
  if (capture.target.kind !== 'sandbox') return [];
  const shims = capture.shims.map(shim => shim.pid);
  const below = shims.flatMap(pid => processTree(capture.host, pid).descendants.map(child => child.pid));
  const inits = capture.target.sandbox.containers.flatMap(container => container.initPid ?? []);
  return [...new Set([...shims, ...below, ...inits])];
}

/** Those of the shim's threads first: a node may have more CPUs than are asked. Online is what has a line in /proc/stat. */
function cpusToAsk({ host, firstLook, shims }: Capture): readonly number[] {
  const looks = firstLook.shims.filter(look => shims.some(({ pid }) => pid === look.pid));
  const ofShims = looks.flatMap(({ threads }) => threads.flatMap(({ stat }) => processorOf(stat ?? '') ?? []));
  const lines = host
    .read('/proc/stat')
    .body.toString('latin1')
    .matchAll(/^cpu(\d+) /gm);
  return [...new Set([...ofShims, ...[...lines].map(([, cpu]) => Number(cpu))])];
}

function entry(path: string, source: string, body: Buffer, result: SweepResult): Evidence {
  const hung = result.hung.map(({ pid, file }) => `${file} of ${pid} did not answer`);
  const detail = [result.detail, ...hung].filter(text => text !== undefined).join('; ');
  return {
    path,
    source,
    outcome: result.outcome === 'ok' && body.length === 0 ? 'empty' : result.outcome,
    body,
    ...(detail === '' ? {} : { detail }),
    at: { offsetMs: result.offsetMs, durationMs: result.durationMs },
  };
}
