import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { LabFolder } from './folder.ts';
import { startJournald } from './journald.ts';
import { status, withDescendants } from './proc.ts';
import { until } from './wait.ts';

/** `file`: a regular file · `pipe`: an anonymous pipe that a `cat` copies into the file · `journald`: the journal's socket. */
export type StderrTo = 'file' | 'pipe' | 'journald';

export interface Daemon {
  /** The daemon itself, below strace or a shell if there is one. */
  readonly pid: number;
  /** What was started. */
  readonly outerPid: number;
}

interface DaemonOptions {
  readonly folder: LabFolder;
  /** Name of the daemon's process, as in /proc/<pid>/comm. */
  readonly comm: string;
  readonly stderr: StderrTo;
  readonly log: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts a daemon in a process group of its own, notes it in the folder's ledger, and returns when its process is there. */
export async function spawnDaemon(argv: readonly string[], options: DaemonOptions): Promise<Daemon> {
  const { folder, comm, stderr, log, env } = options;
  if (stderr === 'journald') await startJournald(folder);
  const [program = '', ...args] = {
    file: argv,
    pipe: ['sh', '-c', '"$@" 2>&1 | cat >>"$0"', log, ...argv],
    journald: ['systemd-cat', '-t', comm, ...argv],
  }[stderr];
  const file = openSync(log, 'a');
  const child = spawn(program, args, { detached: true, stdio: ['ignore', file, file], env, cwd: folder.path });
  closeSync(file);
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const ended = new Promise<never>((_, reject) =>
    child.once('exit', code => reject(new Error(`${comm} ended at once, code ${code}; see ${log}`))),
  );
  ended.catch(() => undefined);
  child.unref();
  const outerPid = await Promise.race([failed, Promise.resolve(child.pid ?? failed)]);
  folder.process(outerPid, program);
  const started = until(`a process named ${comm}`, 10_000, () =>
    [...withDescendants([outerPid])].find(pid => status(pid)?.comm === comm.slice(0, 15)),
  );
  const pid = await Promise.race([started, failed, ended]);
  if (pid !== outerPid) folder.process(pid, comm);
  return { pid, outerPid };
}
