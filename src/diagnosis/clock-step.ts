/** Whether somebody set the clock while the pod lived: then a gap between two times of day is no wait. */
import type { ContainerFacts, Facts } from './facts.ts';

/** Clock ticks of /proc/<pid>/stat: USER_HZ, 100 on every architecture that runs containers. */
const TICK_MS = 10;

/**
 * How far the clock was set forward since the oldest container of the pod started, ms; negative for backward, null when it cannot
 * be told. runc writes down when a process started on both clocks: the time of day (`created`, a moment after) and ticks since
 * boot. Today's time of boot, by today's clock, tells the difference. Slewing does not show: it moves both.
 */
export function clockStepMs({ containers, capture }: Pick<Facts, 'containers' | 'capture'>): number | null {
  const { uptimeSeconds, startedAt } = capture;
  if (uptimeSeconds === null) return null;
  const bootedAt = startedAt - uptimeSeconds * 1000;
  const steps = (containers ?? []).flatMap(container => bootedThen(container) ?? []).map(then => bootedAt - then);
  return steps.length === 0
    ? null
    : steps.reduce((widest, step) => (Math.abs(step) > Math.abs(widest) ? step : widest));
}

/** When the node booted, by the clock of the container's start. */
function bootedThen({ runc }: ContainerFacts): number | null {
  if (runc === null || runc === 'absent' || runc.created === null || runc.initStartTicks === null) return null;
  const created = Date.parse(runc.created);
  return Number.isNaN(created) ? null : created - Number(runc.initStartTicks) * TICK_MS;
}

/** A gap of two times of day, less what the clock was set forward meanwhile. */
export function withoutStep(gapMs: number, facts: Pick<Facts, 'containers' | 'capture'>): number {
  const step = clockStepMs(facts) ?? 0;
  return step > SLACK_MS ? Math.max(0, gapMs - step - LATE_UPTIME_MS) : gapMs;
}

/** `created` is written when runc is through with a create: on a slow disk some time after the process started. */
const SLACK_MS = 1000;

/** The uptime is read after the start of a capture (up to 4 s on a busy node), which makes a step forward look shorter by that. */
const LATE_UPTIME_MS = 5000;
