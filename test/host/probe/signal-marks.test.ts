import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { monotonicMs } from '../../../src/host/clock.ts';
import type { SignalMark } from '../../../src/host/port.ts';
import { markSignal } from '../../../src/host/probe/signal-marks.ts';

let folder = '';
let place = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stallcap-marks-'));
  place = join(folder, 'stallcap');
});
afterEach(() => rmSync(folder, { recursive: true }));

const pid = process.pid;
const mark = (by: number, what: SignalMark['what'], windowMs = 10_000) =>
  markSignal({ pid, startTicks: '77', by, what, windowMs }, place);
const past = (seconds: number, by: number, what: SignalMark['what']) => {
  mkdirSync(place, { mode: 0o700 });
  writeFileSync(join(place, `signalled-${pid}-77`), `${monotonicMs() - seconds * 1000} ${by} ${what}\n`);
};

describe('a mark of a signal', () => {
  it('is the first run’s, and the next one is told whose it is', () => {
    expect(mark(100, 'claim')).toEqual({ outcome: 'ours' });
    expect(mark(200, 'claim')).toMatchObject({
      outcome: 'taken',
      detail: expect.stringMatching(/^about to be signalled by stallcap 100, 0\.\d s ago$/),
    });
    expect(mark(100, 'sent')).toEqual({ outcome: 'ours' });
    expect(mark(300, 'claim')).toMatchObject({ detail: expect.stringMatching(/^signalled by stallcap 100, /) });
    // The same run may go on, and whoever insists.
    expect(mark(100, 'claim')).toEqual({ outcome: 'ours' });
    expect(mark(400, 'again')).toEqual({ outcome: 'ours' });
    expect(mark(500, 'claim')).toMatchObject({ detail: expect.stringContaining('stallcap 400') });
  });

  it('counts from the signal, not from the claim before it', () => {
    past(9.5, 100, 'sent');
    expect(mark(200, 'claim')).toMatchObject({
      outcome: 'taken',
      detail: expect.stringMatching(/^signalled by stallcap 100, 9\.\d s ago$/),
    });
  });

  it('is over after the window, and a claim that was refused does not lengthen it', () => {
    past(11, 100, 'sent');
    writeFileSync(join(place, `signalled-${pid}-77`), `${monotonicMs() - 5000} 200 claim\n`, { flag: 'a' });
    expect(mark(300, 'claim')).toEqual({ outcome: 'ours' });
    rmSync(place, { recursive: true });
    past(16, 100, 'sent');
    writeFileSync(join(place, `signalled-${pid}-77`), `${monotonicMs() - 5000} 200 claim\n`, { flag: 'a' });
    expect(mark(300, 'claim')).toMatchObject({ outcome: 'taken', detail: expect.stringContaining('stallcap 200') });
  });

  it('is given back when nothing was sent', () => {
    mark(100, 'claim');
    mark(100, 'free');
    expect(mark(200, 'claim')).toEqual({ outcome: 'ours' });
  });

  it('of an earlier boot does not count', () => {
    past(-3600, 100, 'sent');
    expect(mark(200, 'claim')).toEqual({ outcome: 'ours' });
  });

  it('is of one process, not of the next with its pid', () => {
    mark(100, 'claim');
    expect(markSignal({ pid, startTicks: '78', by: 200, what: 'claim', windowMs: 10_000 }, place)).toEqual({
      outcome: 'ours',
    });
  });

  it('of a process that is gone is removed', () => {
    markSignal({ pid: 4194999, startTicks: '1', by: 100, what: 'claim', windowMs: 10_000 }, place);
    writeFileSync(join(place, 'bundle.tar.gz'), '');
    mark(100, 'claim');
    expect(readdirSync(place)).toEqual(['bundle.tar.gz', `signalled-${pid}-77`]);
  });

  it.each([
    [
      'others may write to',
      () => {
        mkdirSync(place);
        chmodSync(place, 0o777);
      },
    ],
    ['is a link', () => symlinkSync('/tmp', place)],
    [
      'has a link in place of the mark',
      () => {
        mkdirSync(place, { mode: 0o700 });
        symlinkSync(join(folder, 'x'), join(place, `signalled-${pid}-77`));
      },
    ],
  ])('in a place that %s is not left', (_, plant) => {
    plant();
    expect(mark(100, 'claim')).toMatchObject({ outcome: 'unknown' });
    expect(readdirSync(folder)).toEqual(['stallcap']);
  });
});
