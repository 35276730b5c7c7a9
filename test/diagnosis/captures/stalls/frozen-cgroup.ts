import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startContainerd } from '../../../lab/containerd.ts';
import type { Pod } from '../../../lab/pod.ts';
import { mounts } from '../../../lab/proc.ts';
import { signal } from '../../../lab/processes.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';
import { until } from '../../../lab/wait.ts';

export interface FrozenCgroup extends Stall {
  readonly pod: Pod;
}

/** A container's cgroup (v1) is frozen, as `docker pause` and checkpoints do, and its init is then killed in vain. */
export function frozenCgroup(): Promise<FrozenCgroup> {
  return stalled(async (folder, undo) => {
    const containerd = undo.use(await startContainerd({ folder }));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    // What runs is frozen in __refrigerator; what sleeps stays where it is, and is called frozen (6.1 and later).
    const { initPid } = await pod.addContainer({
      name: 'app',
      command: ['sh', '-c', 'sleep 3600 & while :; do :; done'],
    });
    const point = mounts().find(({ fstype, point: at }) => fstype === 'cgroup' && at.endsWith('/freezer'))?.point;
    const path = /^\d+:freezer:(.*)$/m.exec(readFileSync(`/proc/${initPid}/cgroup`, 'utf8'))?.[1];
    if (point === undefined || path === undefined) throw new Error('no freezer of cgroup v1 here');
    const file = join(point, path, 'freezer.state');
    undo.defer(() => writeFileSync(file, 'THAWED'));
    writeFileSync(file, 'FROZEN');
    await until('the cgroup to freeze', 5000, () => readFileSync(file, 'utf8').startsWith('FROZEN'));
    signal(initPid, 'SIGKILL');
    return { pod };
  });
}
