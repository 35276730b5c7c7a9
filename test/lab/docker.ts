import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { busyboxLayer } from './busybox-image.ts';
import { spawnDaemon } from './daemon.ts';
import { type LabFolder, openFolder } from './folder.ts';
import { shimOf } from './pod.ts';
import { status, withDescendants } from './proc.ts';
import { until } from './wait.ts';

export interface DockerContainer {
  readonly id: string;
  readonly name: string;
  readonly initPid: number;
  readonly shimPid: number;
  readonly bundle: string;
  /** Docker's own record of the container: <data>/containers/<id>/config.v2.json. */
  readonly configFile: string;
}

/** A dockerd of the lab's own, which starts its own containerd (namespace moby). */
export interface Docker extends AsyncDisposable {
  readonly folder: LabFolder;
  readonly socket: string;
  readonly pid: number;
  readonly containerdPid: number;
  readonly containerdSocket: string;
  /** Runs docker against it. @returns stdout @throws ExecaError */
  docker(args: readonly string[], timeoutMs?: number): Promise<string>;
  /** Runs ctr in namespace moby against its containerd. */
  ctr(args: readonly string[], timeoutMs?: number): Promise<string>;
  /** @param labels as dockershim and cri-dockerd set them: `io.kubernetes.pod.name` */
  runContainer(
    name: string,
    command?: readonly string[],
    labels?: Readonly<Record<string, string>>,
  ): Promise<DockerContainer>;
}

/** Starts dockerd in a temporary folder, without networks. Ends with the folder, as startContainerd does. */
export async function startDocker(given?: LabFolder): Promise<Docker> {
  const folder = given ?? (await openFolder());
  try {
    return await startIn(folder, given === undefined);
  } catch (error) {
    if (given === undefined) await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function startIn(folder: LabFolder, ownsFolder: boolean): Promise<Docker> {
  const at = (...names: string[]) => join(folder.path, ...names);
  const socket = at('docker.sock');
  const state = at('exec', 'containerd', 'daemon');
  const containerdSocket = at('exec', 'containerd', 'containerd.sock');
  folder.note({ kind: 'state', dir: state });
  // What dockerd makes at places that cannot be moved, unless it is there already.
  for (const path of ['/etc/docker', '/run/docker']) if (!existsSync(path)) folder.note({ kind: 'path', path });

  const argv = ['dockerd', '--data-root', at('data'), '--exec-root', at('exec'), '-H', `unix://${socket}`];
  const isolated = ['--iptables=false', '--ip6tables=false', '--bridge=none', '-p', at('pid')];
  const log = at('dockerd.log');
  const { pid } = await spawnDaemon([...argv, ...isolated, '--cgroup-parent', `/${folder.name}`], {
    folder,
    comm: 'dockerd',
    stderr: 'file',
    log,
    env: process.env,
  });
  const client = (program: string, args: readonly string[], timeout: number) =>
    execa(program, args, { timeout, killSignal: 'SIGKILL', stdin: 'ignore' }).then(({ stdout }) => stdout);
  const docker = (args: readonly string[], timeoutMs = 30_000) =>
    client('docker', ['-H', `unix://${socket}`, ...args], timeoutMs);
  await until('an answer of dockerd', 30_000, async () => {
    if (status(pid) === null) throw new Error(`dockerd ended; see ${log}`);
    return existsSync(socket) && (await docker(['version'], 2000).catch(() => false));
  });
  const containerdPid = await until('the containerd of dockerd', 5000, () =>
    [...withDescendants([pid])].find(child => status(child)?.comm === 'containerd'),
  );
  folder.process(containerdPid, 'containerd');
  writeFileSync(at('busybox.tar'), await busyboxLayer());
  await docker(['import', at('busybox.tar'), 'busybox:1']);

  return {
    folder,
    socket,
    pid,
    containerdPid,
    containerdSocket,
    docker,
    ctr: (args, timeoutMs = 30_000) => client('ctr', ['-a', containerdSocket, '-n', 'moby', ...args], timeoutMs),
    runContainer: async (name, command = ['sleep', '2147483647'], labels = {}) => {
      // Docker sets oom_score_adj, which needs CAP_SYS_RESOURCE when it is to be lower than it is.
      const options = ['--name', name, '--net', 'host', '--oom-score-adj', '0'];
      const labelled = Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]);
      const id = await docker(['run', '-d', ...options, ...labelled, 'busybox:1', ...command]);
      const bundle = join(state, 'io.containerd.runtime.v2.task', 'moby', id);
      return {
        id,
        name,
        initPid: Number(await docker(['inspect', '-f', '{{.State.Pid}}', id])),
        shimPid: await until('the shim of the container', 5000, () => shimOf(bundle)),
        bundle,
        configFile: at('data', 'containers', id, 'config.v2.json'),
      };
    },
    [Symbol.asyncDispose]: async () => {
      if (ownsFolder) await folder[Symbol.asyncDispose]();
    },
  };
}
