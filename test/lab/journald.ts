import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { startChild } from './child.ts';
import { exclusive } from './exclusive.ts';
import type { LabFolder } from './folder.ts';
import { alive, pids, status } from './proc.ts';
import { until } from './wait.ts';

const PROGRAM = '/lib/systemd/systemd-journald';
const RUNTIME = '/run/systemd/journal';
const CONFIG_DIR = '/run/systemd/journald.conf.d';
const CONFIG = `${CONFIG_DIR}/stallcap-lab.conf`;

/** A journald of the machine's own, which the lab leaves as it is. */
const runningJournald = (): number | undefined =>
  pids().find(pid => status(pid)?.comm === 'systemd-journal' && alive(pid));

/**
 * A journald, on a machine where systemd need not be PID 1: the one that runs already, or a new one for this folder.
 * Its sockets have fixed places, so only one folder of the machine can have its own at a time; others wait.
 * @param settings more lines of journald.conf(5), for a new one: of a folder the first call decides
 * @returns its pid
 */
export function startJournald(folder: LabFolder, settings = ''): Promise<number> {
  const journald = ofFolder.get(folder) ?? start(folder, settings);
  ofFolder.set(folder, journald);
  return journald;
}

const answers = (path: string) =>
  new Promise<boolean>(resolve => {
    const socket = connect(path, () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const ofFolder = new WeakMap<LabFolder, Promise<number>>();

async function start(folder: LabFolder, settings: string): Promise<number> {
  folder.hold(await exclusive('stallcap-lab-journald', 120_000));
  const running = runningJournald();
  if (running !== undefined) return running;

  // Files that are there only because of us.
  for (const path of [RUNTIME, '/run/log/journal', CONFIG, CONFIG_DIR]) {
    if (!existsSync(path)) folder.note({ kind: 'path', path });
  }
  mkdirSync(CONFIG_DIR, { recursive: true });
  mkdirSync(RUNTIME, { recursive: true });
  // In memory only, and without taking over the kernel's log and audit.
  writeFileSync(CONFIG, `[Journal]\nStorage=volatile\nAudit=no\nReadKMsg=no\n${settings}\n`);
  const { pid } = await startChild(folder, PROGRAM);
  await until(
    'the sockets of journald',
    10_000,
    // A socket may be left of one that was killed.
    async () => existsSync('/run/log/journal') && (await answers(`${RUNTIME}/stdout`)),
  );
  return pid;
}
