import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../../../lab/pod.ts';
import { mounts } from '../../../lab/proc.ts';
import { runAppPod } from '../../../lab/stalls/app-pod.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';

export interface LimitsMet extends Stall {
  readonly pod: Pod;
}

/** One container of a pod is refused another process (pids, v1), another is killed for lack of memory (memory, v1). */
export function limitsMet(): Promise<LimitsMet> {
  return stalled(async (folder, undo) => {
    const { containerd, pod } = await runAppPod(folder, undo);
    const sleepers = 'sleep 3600 & sleep 3600 & sleep 3600 & exec sleep 3600';
    const forks = await pod.addContainer({ name: 'forks', command: ['sh', '-c', sleepers] });
    limit('pids', forks.initPid, 'pids.max', '4');
    // As a probe of the kubelet: it joins the cgroup, and may not fork in it.
    await containerd
      .ctr(['task', 'exec', '--exec-id', 'probe', forks.id, 'sh', '-c', 'true | true'])
      .catch(() => undefined);
    const eats = await pod.addContainer({ name: 'eats', command: ['sh', '-c', 'sleep 2; tail /dev/zero'] });
    limit('memory', eats.initPid, 'memory.limit_in_bytes', String(16 * 2 ** 20));
    await sleep(4000);
    return { pod };
  });
}

function limit(controller: string, pid: number, file: string, value: string): void {
  const point = mounts().find(({ fstype, point: at }) => fstype === 'cgroup' && at.endsWith(`/${controller}`))?.point;
  const cgroups = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  const path = new RegExp(`^\\d+:(?:.*,)?${controller}(?:,.*)?:(.*)$`, 'm').exec(cgroups)?.[1];
  if (point === undefined || path === undefined) throw new Error(`no controller ${controller} of cgroup v1 here`);
  writeFileSync(join(point, path, file), value);
}
