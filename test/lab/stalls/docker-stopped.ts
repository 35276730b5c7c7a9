import { type Docker, type DockerContainer, startDocker } from '../docker.ts';
import { status } from '../proc.ts';
import { signal } from '../processes.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface DockerStopped extends Stall {
  readonly docker: Docker;
  readonly container: DockerContainer;
}

/** dockerd is stopped (T) and a container of it dies: containerd knows, docker's own record goes on saying "running". */
export function dockerStopped(): Promise<DockerStopped> {
  return stalled(async (folder, undo) => {
    const docker = undo.use(await startDocker(folder));
    const container = await docker.runContainer('web');
    undo.defer(() => signal(docker.pid, 'SIGCONT'));
    signal(docker.pid, 'SIGSTOP');
    await until('dockerd to be stopped', 5000, () => status(docker.pid)?.state === 'T');
    signal(container.initPid, 'SIGKILL');
    await until('containerd to know of the end', 10_000, async () =>
      (await docker.ctr(['task', 'ls'])).includes('STOPPED'),
    );
    return { docker, container };
  });
}
