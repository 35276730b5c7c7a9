import { startChild } from '../child.ts';
import { compile } from '../programs/compile.ts';
import { type Stall, stalled } from './stall.ts';

export interface ManyThreads extends Stall {
  /** Parent of all the processes. */
  readonly pid: number;
  /** Threads that were started: processes × threads of each, and the parent. */
  readonly total: number;
}

/** A busy node's worth of sleeping threads; 200 × 100 fit below the usual pid_max of 32768. */
export function manyThreads(options: {
  readonly processes: number;
  readonly threadsEach: number;
}): Promise<ManyThreads> {
  const { processes, threadsEach } = options;
  return stalled(async folder => {
    const program = await compile(folder, 'many-threads');
    const child = await startChild(folder, program, [String(processes), String(threadsEach)]);
    await child.line(60_000);
    return { pid: child.pid, total: processes * threadsEach + 1 };
  });
}
