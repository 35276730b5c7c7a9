import { closeSync, constants, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Containerd, startContainerd } from '../containerd.ts';
import type { LabFolder } from '../folder.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { pids, status, threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export type RuncCommand = 'create' | 'start' | 'kill' | 'delete';

export interface RuncHeld extends Stall {
  readonly containerd: Containerd;
  readonly pod: Pod;
  readonly container: PodContainer;
  /** The runc that does not go on, child of the shim. */
  readonly runcPid: number;
  /** Settles when the call that needs this runc does; never rejects. @returns its error, null when it went well */
  readonly called: Promise<Error | null>;
}

/** A runc that takes long: the wrapper of that name, which waits in one of the commands until it is let go. */
export function runcHeld(options: { readonly command: RuncCommand; readonly bin?: string }): Promise<RuncHeld> {
  const { command, bin } = options;
  return stalled(async (folder, undo) => {
    const wrapper = await writeWrapper(folder);
    const containerd = undo.use(
      await startContainerd({ folder, runc: wrapper.path, ...(bin === undefined ? {} : { bin }) }),
    );
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const container = await pod.createContainer({ name: 'app' });
    if (command === 'kill' || command === 'delete') await container.start();
    undo.defer(() => wrapper.release());
    wrapper.hold(command);
    const called = need(command, containerd, container).then(
      () => null,
      (error: Error) => error,
    );
    const runcPid = await until(`runc ${command} to wait`, 10_000, () =>
      pids().find(pid => {
        const seen = status(pid);
        return seen?.ppid === pod.shimPid && seen.comm === 'runc' && threads(pid)[0]?.wchan.endsWith('pipe_read');
      }),
    );
    return { containerd, pod, container, runcPid, called };
  });
}

/** What makes the shim run this command. */
async function need(command: RuncCommand, containerd: Containerd, container: PodContainer): Promise<void> {
  if (command === 'create' || command === 'start') return container.start(120_000);
  if (command === 'delete') return signal(container.initPid, 'SIGKILL');
  await containerd.cri.call('StopContainer', { container_id: container.id, timeout: 0 }, 120_000);
}

interface Wrapper {
  readonly path: string;
  hold(command: RuncCommand): void;
  release(): void;
}

/** A script named runc; it waits in a read of a fifo, without a child, as long as `hold/<command>` exists. */
async function writeWrapper(folder: LabFolder): Promise<Wrapper> {
  const dir = join(folder.path, 'runc-wrapper');
  const path = join(dir, 'runc');
  mkdirSync(join(dir, 'hold'), { recursive: true });
  await run('mkfifo', [join(dir, 'release')]);
  const real = await run('which', ['runc']);
  const script = `#!/bin/sh
for word; do
  case $word in create|start|kill|delete)
    if [ -e ${dir}/hold/$word ]; then exec 3<>${dir}/release; read -r _ <&3; exec 3>&-; fi
    break;;
  esac
done
exec ${real} "$@"
`;
  writeFileSync(path, script, { mode: 0o755 });
  return {
    path,
    hold: command => writeFileSync(join(dir, 'hold', command), ''),
    release: () => {
      rmSync(join(dir, 'hold'), { recursive: true, force: true });
      const fifo = openSync(join(dir, 'release'), constants.O_RDWR | constants.O_NONBLOCK);
      // One line for each that may wait; more than one when a call was repeated.
      writeSync(fifo, '\n'.repeat(64));
      closeSync(fifo);
    },
  };
}
