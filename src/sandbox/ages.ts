import { formatDuration } from '../formats/duration.ts';
import type { Host } from '../host/port.ts';
import type { Sandbox } from './types.ts';

/** USER_HZ: what the kernel counts start times in, on every architecture that nodes have. */
const TICKS_PER_SECOND = 100;

/** Seconds since boot: first field of /proc/uptime; null where it cannot be read. */
export function uptimeSeconds(host: Pick<Host, 'read'>): number | null {
  const seconds = Number.parseFloat(host.read('/proc/uptime').body.toString('utf8'));
  return Number.isFinite(seconds) ? seconds : null;
}

/** Seconds since its oldest shim was started, as exact as start times are; null without a shim. */
export function ageSeconds({ shims }: Sandbox, uptime: number | null): number | null {
  if (uptime === null || shims.length === 0) return null;
  const oldest = Math.min(...shims.map(({ startTicks }) => Number(startTicks)));
  return Math.max(0, Math.round(uptime * TICKS_PER_SECOND - oldest) / TICKS_PER_SECOND);
}

/** For people; `-` where it is not known. */
export function durationWords(seconds: number | null): string {
  return seconds === null ? '-' : formatDuration(seconds * 1000);
}
