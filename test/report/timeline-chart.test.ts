import { describe, expect, it } from 'vitest';
import { windowOf } from '../../src/report/charts/window.ts';
import { timelineOf } from '../../src/report/timeline/timeline.ts';
import { CONTAINER_ID, containerOf, eventOf, factsOf, logsOf, STARTED_AT } from '../diagnosis/facts-of.ts';

const MINUTE = 60_000;
const status = (state: 'CREATED' | 'RUNNING', createdAgo: number, startedAgo: number | null) => ({
  ...{ state, pid: 2700, exitCode: null, reason: null, temporary: [], finishedAt: null, finishedAtNs: '0' },
  createdAtNs: `${STARTED_AT - createdAgo}000000`,
  startedAtNs: startedAgo === null ? '0' : `${STARTED_AT - startedAgo}000000`,
  startedAt: startedAgo === null ? null : STARTED_AT - startedAgo,
  file: null,
  cite: { entry: `containers/${CONTAINER_ID}/status.json`, line: 1, text: '{}' },
});

describe('the picture of a timeline', () => {
  it('shows fifteen minutes between creation and now as a gap, and as a bar', () => {
    const containers = [containerOf({ criStatus: status('CREATED', 15 * MINUTE, null) })];
    const timeline = timelineOf(factsOf({ containers }));
    expect(timeline.gap?.ms).toBe(15 * MINUTE);
    expect(timeline.spans).toContainEqual(expect.objectContaining({ kind: 'waiting', what: 'created, not started' }));
    const { from, to } = windowOf(timeline);
    expect(15 * MINUTE).toBeGreaterThan(0.8 * (to - from));
  });

  it('does not press the exit of a pod into a hair that has run for six days before', () => {
    const containers = [
      containerOf({ criStatus: status('RUNNING', 6 * 24 * 60 * MINUTE, 6 * 24 * 60 * MINUTE - 1000) }),
    ];
    const logs = logsOf([eventOf('exit-received', { agoMs: 10 * MINUTE, exitedAt: STARTED_AT - 10 * MINUTE })]);
    const timeline = timelineOf(factsOf({ containers, logs }));
    const waiting = timeline.spans.find(({ what }) => what === 'exited, CRI still says running');
    expect(Date.parse(waiting?.to ?? '') - Date.parse(waiting?.from ?? '')).toBe(10 * MINUTE);
    const { from, to, earlier } = windowOf(timeline);
    expect(to - from).toBeLessThan(13 * MINUTE);
    expect(earlier).toBeGreaterThan(0);
  });
});
