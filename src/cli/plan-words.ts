import type { Plan } from '../bundle/plan.ts';
import type { Planned } from '../capture/plan-node.ts';
import { formatDuration } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';
import { who } from '../report/summary.ts';

/** What `grab --dry-run` prints: plan.json in words, and where the bundle would go. */
export function planWords({ plan, places }: Planned): string {
  const { options, collectors, target } = plan;
  const phases = [...new Set(collectors.map(({ phase }) => phase))];
  const width = Math.max(...phases.map(phase => phase.length));
  const samples = `${options.samples} samples, ${formatDuration(options.intervalMs)} apart`;
  return [
    `Would capture: ${who(target)}${target.kind === 'node' ? '' : ` (${target.how})`}`,
    `Would signal: ${signalWords(plan)}`,
    ...(options.daemons ? ['Would signal: SIGUSR1 to containerd and dockerd, once each, if their guards allow'] : []),
    `Would write: ${places.join(', else ')}`,
    `In at most ${formatDuration(options.timeoutMs)}, with ${samples}:`,
    ...phases.map(phase => {
      const names = collectors.filter(collector => collector.phase === phase).map(({ name }) => name);
      return `  ${phase.padEnd(width)}  ${names.join(', ')}`;
    }),
    'Nothing was captured, and nobody was signalled.',
  ]
    .map(line => `${printable(line)}\n`)
    .join('');
}

function signalWords({ options, target }: Plan): string {
  if (target.kind !== 'sandbox') return 'nobody';
  if (!options.signal) return 'nobody (--no-signal)';
  const pids = target.sandbox.shims.map(({ pid }) => pid).join(', ');
  const again = options.signalAgain ? '' : ', and no other grab has signalled it in the last 10 s';
  return `SIGUSR1 to shim ${pids}, once, if its guards allow${again}`;
}
