import type { LogContext } from '../../formats/logs/timestamp.ts';
import type { Facts, ProcessTable } from '../facts.ts';
import { attachedFrom } from './attached.ts';
import { captureFrom, signalsFrom, stuckProbesFrom, targetFrom } from './capture.ts';
import { cgroupsFrom } from './cgroups.ts';
import { commandsFrom } from './commands.ts';
import { containersFrom } from './containers.ts';
import { daemonGoroutinesFrom } from './daemon-goroutines.ts';
import { devicesFrom } from './devices.ts';
import type { Entries } from './entries.ts';
import { goroutinesFrom } from './goroutines.ts';
import { holdersFrom } from './holders.ts';
import { kernelFrom } from './kernel.ts';
import type { logReader } from './logs.ts';
import { fuseFrom, mountsFrom } from './mounts.ts';
import { dirtyFrom, pressureFrom } from './pressure.ts';
import { daemonsIn, PROCESSES } from './processes.ts';
import type { Samples } from './samples.ts';
import { podNamesFrom } from './sandboxes.ts';
import { shimsFrom } from './shims.ts';
import { threadsFrom } from './threads.ts';
import { saidIn } from './views-document.ts';
import { writersFrom } from './writers.ts';

/** What was reduced while it passed by. */
export interface Reduced {
  readonly processes: ProcessTable | null;
  readonly samples: Samples | null;
  readonly logs: ReturnType<typeof logReader>;
  readonly context: LogContext;
  readonly cut: boolean;
}

/** Every fact, each made once, those that others build on first. */
export function makeFacts(entries: Entries, reduced: Reduced): Facts {
  const { processes, samples, logs, context } = reduced;
  const target = targetFrom(entries.plan);
  const threads = threadsFrom(entries, processes);
  const goroutines = goroutinesFrom(entries, threads.pod);
  const said = saidIn(entries);
  const containers = containersFrom(entries, threads.pod, processes, samples, said);
  const shims = shimsFrom(entries, threads.pod, processes, said);
  const mounts = mountsFrom(entries, target);
  const chains = mounts?.chains ?? [];
  const devices = devicesFrom(entries, samples, chains, mounts?.all ?? []);
  const sweptAt = entries.plan.startedAt + (entries.item(PROCESSES)?.offsetMs ?? 0);
  return {
    capture: captureFrom(entries, goroutines, logs.versions, reduced.cut),
    target,
    threads: threads.pod,
    nodeThreads: threads.node,
    processes,
    goroutines,
    daemonGoroutines: daemonGoroutinesFrom(entries),
    containers,
    shims,
    daemons: processes === null ? null : daemonsIn(processes, sweptAt, target.target),
    devices,
    pressure: pressureFrom(entries, samples, containers),
    dirty: dirtyFrom(entries, samples, devices, chains),
    writers: writersFrom(samples, target, podNamesFrom(entries, logs.names), devices),
    mounts,
    fuse: fuseFrom(entries, mounts),
    cgroups: cgroupsFrom(entries, target.podUid),
    logs: logs.facts(entries.manifest),
    kernel: kernelFrom(entries, context, target, threads.pod),
    commands: commandsFrom(entries),
    stuckProbes: stuckProbesFrom(entries.manifest),
    signals: signalsFrom(entries.manifest),
    attached: attachedFrom(entries),
    holders: holdersFrom(entries, threads.pod, shims),
  };
}
