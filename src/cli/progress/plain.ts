import type { Progress } from '../../capture/progress.ts';
import { type OpenPhase, settleOnce } from './settle-once.ts';

/** One line per phase, as it ends: '  1.2 s  kernel stacks: 14 threads, 1 in D'. For logs, pipes and dumb terminals. */
export function plainProgress(stream: NodeJS.WritableStream): Progress {
  const phases: OpenPhase[] = [];
  return {
    phase(_name, title) {
      const phase = settleOnce(title, ({ ok, line }) => {
        const seconds = (performance.now() / 1000).toFixed(1).padStart(5);
        stream.write(`${seconds} s  ${ok ? '' : '! '}${line}\n`);
      });
      phases.push(phase);
      return phase;
    },
    async close() {
      for (const phase of phases) phase.cutShort();
    },
  };
}
