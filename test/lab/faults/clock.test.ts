import { describe, expect, it } from 'vitest';
import { during } from '../during.ts';
import { compilePreload } from '../programs/compile.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { stalled } from '../stalls/stall.ts';
import { grabThrough } from './grab-through.ts';

describe.skipIf(labUnavailable())('a clock that is set back by an hour while a grab runs', () => {
  it('bends no duration and no offset, and is shown as what it was', context =>
    during(stalled(runAppPod), async ({ folder, pod }) => {
      const library = await compilePreload(folder, 'clock-set-back');
      const { bundle } = await grabThrough(context, folder, pod.id, {
        timeoutS: 25,
        args: ['--samples', '3', '--interval', '700ms'],
        env: { LD_PRELOAD: library, CLOCK_SET_BACK_AFTER_MS: '1000' },
      });
      const { capture, items, signals } = bundle.manifest;
      const [started, ended] = [Date.parse(capture.startedAt), Date.parse(capture.endedAt)];
      // It was set back: without that the test shows nothing.
      expect(ended - started).toBeLessThan(-3_500_000);
      expect(capture.durationMs).toBeGreaterThan(1000);
      expect(capture.durationMs).toBeLessThan(25_000);
      for (const { offsetMs, durationMs, path } of items) {
        expect(durationMs, path).toBeGreaterThanOrEqual(0);
        expect(offsetMs, path).toBeGreaterThanOrEqual(0);
        expect(offsetMs + durationMs, path).toBeLessThanOrEqual(capture.durationMs + 1);
      }
      for (const { steps } of signals) {
        const offsets = steps.map(({ offsetMs }) => offsetMs);
        expect(offsets.every(offset => offset >= 0 && offset <= capture.durationMs + 1)).toBe(true);
      }
    }));
});
