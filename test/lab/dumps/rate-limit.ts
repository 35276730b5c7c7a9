import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Containerd } from '../containerd.ts';
import type { LabFolder } from '../folder.ts';
import { startJournald } from '../journald.ts';
import { mounts } from '../proc.ts';
import { type InJournal, loggingIn } from '../stalls/journald-stopped.ts';
import { stalled } from '../stalls/stall.ts';
import { until } from '../wait.ts';

/** journald's RateLimitIntervalSec: an interval begins with a message, and so does the next one after its end. */
export const INTERVAL_MS = 5000;
/** RateLimitBurst. journald takes more where the disk has room: some twenty of these. */
const BURST = 5;

export interface RateLimited extends InJournal {
  /** Name of the unit that journald takes containerd for. */
  readonly unit: string;
  /**
   * Waits for an interval that began a moment ago, and of which messages are dropped already.
   * @returns when it began (ms since 1970), how many it has let through
   */
  dropping(): Promise<{ readonly beganMs: number; readonly taken: number }>;
}

/**
 * containerd in a service of its own, whose journald lets a few messages through in each interval.
 * @returns null where the machine has a journald of its own, which is not the lab's to configure
 */
export function rateLimited(): Promise<RateLimited | null> {
  return stalled(async (folder, undo) => {
    const journaldPid = await startJournald(
      folder,
      `RateLimitIntervalSec=${INTERVAL_MS / 1000}\nRateLimitBurst=${BURST}`,
    );
    const isOurs = folder.ledger.some(entry => entry.kind === 'process' && entry.pid === journaldPid);
    if (!isOurs) return { ours: false as const };
    const { unit, prefix } = service(folder);
    const facts = await loggingIn(folder, undo, { prefix });
    return { ...facts, ours: true as const, unit, dropping: () => dropping(facts) };
  }).then(async stall => {
    if (stall.ours) return stall;
    await stall[Symbol.asyncDispose]();
    return null;
  });
}

/** journald knows a unit by the cgroup of the process that writes, whoever made it. */
function service(folder: LabFolder): { readonly unit: string; readonly prefix: readonly string[] } {
  const unit = `${folder.name}.service`;
  const cgroups = mounts()
    .filter(({ fstype, point }) => fstype === 'cgroup2' || point.endsWith('/systemd'))
    .map(({ point }) => join(point, unit));
  for (const path of cgroups) mkdirSync(path);
  folder.hold({
    // The kernel lets go of it a moment after its last process.
    [Symbol.asyncDispose]: () =>
      until('the cgroup to be empty', 5000, () => cgroups.every(removed)).then(() => undefined),
  });
  const enter = cgroups.map(path => `echo $$ >${path}/cgroup.procs`).join(' && ');
  return { unit, prefix: ['sh', '-c', `${enter} && exec "$@"`, 'sh'] };
}

function removed(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Makes containerd log without a pause, until it is disposed of: each call is refused, and logged with the refusal. */
export function chatter({ cri }: Pick<Containerd, 'cri'>): AsyncDisposable {
  let on = true;
  const talking = (async () => {
    while (on) await cri.call('RemoveContainer', { container_id: 'unknown' }, 5000).catch(() => undefined);
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      on = false;
      await talking;
    },
  };
}

/** Entries of an interval follow each other faster than this; journald is silent for longer when it drops. */
const SILENCE_MS = 700;
/** So that there is time left in it. */
const RECENT_MS = 2000;

async function dropping({ entries }: Pick<InJournal, 'entries'>): Promise<{ beganMs: number; taken: number }> {
  return until(
    'journald to drop what containerd says',
    60_000,
    async () => {
      const times = (await entries()).map(entry => Number(entry['__REALTIME_TIMESTAMP']) / 1000);
      const last = times.at(-1) ?? Date.now();
      const before = times.findLastIndex((time, index) => (times[index + 1] ?? time) - time > SILENCE_MS);
      const beganMs = times[before + 1] ?? last;
      if (Date.now() - last < SILENCE_MS || Date.now() - beganMs > RECENT_MS) return null;
      return { beganMs, taken: times.length - before - 1 };
    },
    100,
  );
}

/** Waits until an instant, ms since 1970. */
export const at = (instantMs: number): Promise<void> => sleep(Math.max(0, instantMs - Date.now()));
