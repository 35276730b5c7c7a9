import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { startChild } from './child.ts';
import { exclusive } from './exclusive.ts';
import type { LabFolder } from './folder.ts';
import { pids, status } from './proc.ts';
import { until } from './wait.ts';

const PROGRAM = '/lib/systemd/systemd-journald';
const RUNTIME = '/run/systemd/journal';
const CONFIG_DIR = '/run/systemd/journald.conf.d';
const CONFIG = `${CONFIG_DIR}/stallcap-lab.conf`;

/**
 * A journald, on a machine where systemd need not be PID 1: the one that runs already, or a new one for this folder.
 * Its sockets have fixed places, so only one folder of the machine can have its own at a time; others wait.
 * @returns its pid
 */
export async function startJournald(folder: LabFolder): Promise<number> {
  folder.hold(await exclusive('stallcap-lab-journald', 120_000));
  const running = pids().find(pid => status(pid)?.comm === 'systemd-journal');
  if (running !== undefined) return running;

  // Files that are there only because of us.
  for (const path of [RUNTIME, '/run/log/journal', CONFIG, CONFIG_DIR]) {
    if (!existsSync(path)) folder.note({ kind: 'path', path });
  }
  mkdirSync(CONFIG_DIR, { recursive: true });
  mkdirSync(RUNTIME, { recursive: true });
  // In memory only, and without taking over the kernel's log and audit.
  writeFileSync(CONFIG, '[Journal]\nStorage=volatile\nAudit=no\nReadKMsg=no\n');
  const { pid } = await startChild(folder, PROGRAM);
  await until(
    'the sockets of journald',
    10_000,
    () => existsSync(`${RUNTIME}/stdout`) && existsSync('/run/log/journal'),
  );
  return pid;
}
