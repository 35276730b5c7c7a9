/**
 * Everything that a grab captures, in order of volatility: what is gone first is taken first, and what disturbs comes
 * after what only looks. Collectors of one phase run at once; the phases are those of `PHASES`.
 */
import { attached } from './attached.ts';
import { blockDevices } from './block-devices.ts';
import { bundleDirectories } from './bundle-directories.ts';
import { cgroups } from './cgroups.ts';
import type { Collector } from './collector.ts';
import { containerThreads, containerThreadsAgain } from './container-threads.ts';
import { criStatus } from './cri-status.ts';
import { criStore } from './cri-store.ts';
import { crictl } from './crictl.ts';
import { ctr } from './ctr.ts';
import { daemonDumps } from './daemon-dumps.ts';
import { disksBelow } from './disks-below.ts';
import { docker } from './docker.ts';
import { dockerState } from './docker-state.ts';
import { fileLocks } from './file-locks.ts';
import { firstLook } from './first-look.ts';
import { fuseConnections } from './fuse-connections.ts';
import { goroutineDump } from './goroutine-dump.ts';
import { goroutineSignal } from './goroutine-signal.ts';
import { holders } from './holders.ts';
import { containerdLog } from './logs/containerd-log.ts';
import { dockerLog } from './logs/docker-log.ts';
import { kernelLog } from './logs/kernel-log.ts';
import { kubeletLog } from './logs/kubelet-log.ts';
import { nodeFiles } from './node-files.ts';
import { nodeSamples } from './node-samples.ts';
import { observer } from './observer.ts';
import { ps } from './ps.ts';
import { remnant } from './remnant.ts';
import { runcState } from './runc-state.ts';
import { sandboxes } from './sandboxes.ts';
import { shimAnswers } from './shim-answers.ts';
import { shimFiles } from './shim-files.ts';
import { shimThreads } from './shim-threads.ts';
import { sweep } from './sweep.ts';
import { views, viewsBefore } from './views/views.ts';

export const collectors: readonly Collector[] = [
  // first-look: reads only, before any signal
  firstLook,
  containerThreads,
  // signal: SIGUSR1 to the shim, once, through its guards
  goroutineSignal,
  // sweep: the node, while the dump is on its way
  sweep,
  sandboxes,
  shimFiles,
  nodeFiles,
  cgroups,
  blockDevices,
  disksBelow,
  fuseConnections,
  // files: what the runtimes wrote down; it may lie on the stalled disk
  bundleDirectories,
  runcState,
  criStatus,
  criStore,
  dockerState,
  viewsBefore,
  remnant,
  attached,
  // samples: what never moved, and rates
  shimThreads,
  containerThreadsAgain,
  nodeSamples,
  holders,
  observer,
  // ask: what the shim and the runtimes say, and how long they take to say it
  shimAnswers,
  crictl,
  ctr,
  docker,
  ps,
  // linger: the dump that was asked for has arrived; logs, newest part, one after another; then what is slow to read or of least value
  goroutineDump,
  views,
  containerdLog,
  kubeletLog,
  dockerLog,
  kernelLog,
  fileLocks,
  // daemons: only on request, the goroutines of containerd and dockerd, for which they are signalled
  daemonDumps,
];
