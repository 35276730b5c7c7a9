/** Captures of containerd, dockerd, the shim or runc in trouble, without a disk that is. */
import { containerdDead, containerdStopped } from '../../lab/stalls/containerd-stopped.ts';
import { dockerStopped } from '../../lab/stalls/docker-stopped.ts';
import { exitEventLost } from '../../lab/stalls/exit-event-lost.ts';
import { runcHeld } from '../../lab/stalls/runc-held.ts';
import type { Stall } from '../../lab/stalls/stall.ts';
import { stdioDrain } from '../../lab/stalls/stdio-drain.ts';
import type { Kind } from './kinds.ts';
import { createTimeout } from './stalls/create-timeout.ts';
import { logFifoFull } from './stalls/log-fifo-full.ts';
import { restarted } from './stalls/restarted.ts';
import { shimLeaked } from './stalls/shim-leaked.ts';
import { shimStopped } from './stalls/shim-stopped.ts';

/** The first look whole: how long the shim was quiet is the least of all its threads. */
const KEEP =
  /^shim\/(?:threads-1|children|fd)\.txt$|^runtime\/(?:\w+-commands\.jsonl|views\.json)$|^containers\/[^/]+\/(?:bundle\.txt|runc\.txt|config\.v2\.(?:json|stat))$/;
const DROP = /^node\/(?:samples|diskstats|disks|mountinfo|fuse|cgroups|pressure|blocked)|mountinfo$|cgroup\.txt$/;

/** What containerd says of containers, shims and trouble; no dump, no plugin that it loads. */
const LOG =
  /^(?!.*(?:goroutine stack dump|plugin|Image))(?=.*(?:level=(?:error|warning)|[Cc]ontainer|[Ss]andbox|TaskExit|shim|booted))/;

/** Where a containerd is dead, the log is that of another one on the machine. */
const DROP_LOG = new RegExp(`${DROP.source}|^logs/`);

const RUNTIME = { keep: KEEP, drop: DROP, log: LOG } as const;

/** A folder with containerd 2.1 or later, as Debian's sid has it: containerd itself waits for the end of the output there. */
const NEWER = process.env['CONTAINERD_BIN'];
const newer = NEWER === undefined ? {} : { bin: NEWER };

/** Killed after the stall began: something that nobody takes notice of. */
async function withDeadContainer<S extends Stall & { readonly initPid: number }>(making: Promise<S>): Promise<S> {
  const stall = await making;
  process.kill(stall.initPid, 'SIGKILL');
  return stall;
}

async function dockerContainer() {
  const stall = await dockerStopped();
  return { ...stall, pod: { id: stall.container.id } };
}

export const RUNTIME_KINDS: Readonly<Record<string, Kind>> = {
  'containerd-stopped': { ...RUNTIME, make: () => withDeadContainer(containerdStopped()), args: ['--samples', '2'] },
  'containerd-dead': {
    ...RUNTIME,
    make: () => withDeadContainer(containerdDead()),
    args: ['--samples', '6'],
    drop: DROP_LOG,
  },
  'dockerd-stopped': { ...RUNTIME, make: dockerContainer },
  'exit-event-lost': { ...RUNTIME, make: exitEventLost, settleMs: 15_000 },
  'containerd-restarted': { ...RUNTIME, make: restarted },
  'stdio-drain': { ...RUNTIME, make: () => stdioDrain(newer), settleMs: 6000, args: ['--samples', '1'] },
  'runc-create-held': { ...RUNTIME, make: () => runcHeld({ command: 'create' }), settleMs: 12_500 },
  'runc-start-held': { ...RUNTIME, make: () => runcHeld({ command: 'start' }), settleMs: 12_500 },
  'runc-delete-held': { ...RUNTIME, make: () => runcHeld({ command: 'delete' }), settleMs: 14_000 },
  'create-timeout': { ...RUNTIME, make: createTimeout },
  'shim-stopped': { ...RUNTIME, make: shimStopped },
  'shim-leaked': { ...RUNTIME, make: shimLeaked },
  'log-fifo-full': { ...RUNTIME, make: logFifoFull, args: ['--no-signal'] },
  'log-fifo-drained': { ...RUNTIME, make: logFifoFull },
};
