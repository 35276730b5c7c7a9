import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { BUSYBOX, PAUSE, writeBusyboxImage } from './busybox-image.ts';
import { containerdConfig } from './containerd-config.ts';
import { connectCri } from './cri.ts';
import { type CtrContainer, type CtrContainerSpec, runContainer } from './ctr-container.ts';
import { type Daemon, type StderrTo, spawnDaemon } from './daemon.ts';
import { type LabFolder, openFolder } from './folder.ts';
import { type Pod, type PodSpec, runPod } from './pod.ts';
import { status } from './proc.ts';
import { end } from './processes.ts';
import type { RunningContainerd } from './running-containerd.ts';
import { usualContainerd } from './usual-containerd.ts';
import { until } from './wait.ts';

export interface ContainerdOptions {
  /** Whose it is; without one it opens a folder of its own and closes it at the end. */
  readonly folder?: LabFolder;
  /** Where images, snapshots and CRI status files lie: on a slow or frozen disk, say. Default: in the folder. */
  readonly root?: string;
  /** Its state directory, and its socket. Default: in the folder; elsewhere only below it. */
  readonly state?: string;
  readonly socket?: string;
  /** More of config.toml, appended. */
  readonly config?: string;
  /** A folder with `containerd`, `ctr` and shims of another version. Default: 1.6, see usual-containerd.ts. */
  readonly bin?: string;
  /** Where its log goes. Default: file. */
  readonly stderr?: StderrTo;
  /** A program in place of runc. */
  readonly runc?: string;
  /** What it is started under: ['strace', …]. */
  readonly prefix?: readonly string[];
}

/** A containerd of the lab's own, with the CRI plugin and the busybox image. */
export interface Containerd extends RunningContainerd, AsyncDisposable {
  readonly root: string;
  readonly socket: string;
  /** The running daemon; another one after `start`. */
  readonly pid: number;
  /** '1.6.20~ds1' */
  readonly version: string;
  /** Its log so far; empty when that goes to the journal. */
  log(): string;
  runPod(spec: PodSpec): Promise<Pod>;
  /** A container without a pod, with ctr. */
  runContainer(spec: CtrContainerSpec): Promise<CtrContainer>;
  /** SIGKILL: shims and containers live on. */
  kill(): Promise<void>;
  /** Starts it again on the same folders after `kill`. @param prefix replaces that of the options */
  start(prefix?: readonly string[]): Promise<void>;
}

/** Starts a containerd in a temporary folder. Everything it starts, mounts and leaves elsewhere ends with it. */
export async function startContainerd(options: ContainerdOptions = {}): Promise<Containerd> {
  const folder = options.folder ?? (await openFolder());
  try {
    return await startIn(folder, options);
  } catch (error) {
    if (options.folder === undefined) await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function startIn(folder: LabFolder, options: ContainerdOptions): Promise<Containerd> {
  const at = (name: string) => join(folder.path, name);
  const { root = at('root'), state = at('state'), socket = at('containerd.sock') } = options;
  const bin = options.bin ?? (await usualContainerd());
  const log = at('containerd.log');
  const env = { ...process.env, PATH: [bin, process.env['PATH']].filter(Boolean).join(':') };
  folder.note({ kind: 'state', dir: state });
  mkdirSync(at('pods'), { recursive: true });
  writeFileSync(log, '');
  writeFileSync(at('config.toml'), containerdConfig({ ...options, folder: folder.path, root, state, socket }));

  const program = bin === undefined ? 'containerd' : join(bin, 'containerd');
  let daemon: Daemon | undefined;
  const start = async (prefix: readonly string[]) => {
    daemon = await spawnDaemon([...prefix, program, '--config', at('config.toml')], {
      folder,
      comm: 'containerd',
      stderr: options.stderr ?? 'file',
      log,
      env,
    });
  };
  const cri = connectCri(socket);
  const answers = () =>
    until('an answer of containerd', 60_000, async () => {
      if (daemon === undefined || status(daemon.pid) === null) throw new Error(`containerd ended: ${tail(log)}`);
      return cri.call('Version', {}, 1000).catch(() => null);
    });
  const ctr = async (args: readonly string[], timeoutMs = 60_000) => {
    const { stdout } = await execa('ctr', ['-a', socket, ...(args.includes('-n') ? [] : ['-n', 'k8s.io']), ...args], {
      env,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      stdin: 'ignore',
    });
    return stdout;
  };

  await start(options.prefix ?? []);
  const version = await answers();
  await writeBusyboxImage(at('busybox.tar'));
  await ctr(['image', 'import', at('busybox.tar')]);
  // CRI hears of an image by an event, a moment later (seen to matter with 2.x on a busy machine).
  for (const image of [PAUSE, BUSYBOX]) {
    await until(`CRI to know ${image}`, 20_000, async () => {
      const known = await cri.call('ImageStatus', { image: { image } }, 5000);
      return known.image !== null;
    });
  }

  const containerd: Containerd = {
    folder,
    root,
    state,
    socket,
    version: version.runtime_version,
    cri,
    get pid() {
      return daemon?.pid ?? -1;
    },
    log: () => readFileSync(log, 'utf8'),
    ctr,
    runPod: spec => runPod(containerd, spec),
    runContainer: spec => runContainer(containerd, spec),
    kill: () => end(containerd.pid),
    start: async prefix => {
      await start(prefix ?? options.prefix ?? []);
      await answers();
    },
    [Symbol.asyncDispose]: async () => {
      cri.close();
      if (options.folder === undefined) await folder[Symbol.asyncDispose]();
      else await containerd.kill();
    },
  };
  return containerd;
}

const tail = (file: string): string => readFileSync(file, 'utf8').split('\n').slice(-5).join('\n');
