import { describe, expect, it } from 'vitest';
import type { ViewsDocument } from '../../src/formats/views/document.ts';
import type { ContainerViews, View } from '../../src/formats/views/view.ts';
import { disagrees, viewsTable } from '../../src/report/views-table.ts';
import { time, view } from '../formats/views/views-of.ts';
import { EVIL_BIDI } from './hostile.ts';

const container = (name: string | null, ...views: readonly View[]): ContainerViews => ({
  ...{ id: (name ?? 'pause').padEnd(64, '0'), kind: name === null ? 'sandbox' : 'container', name, views },
});
const documentOf = (...containers: readonly ContainerViews[]): ViewsDocument => ({
  format: 1,
  shims: [{ pid: 2623, service: 's', outcome: 'ok', at: time(3), latencyMs: 4.2, answeredBy: 2623 }],
  containers,
});

const PAUSE = container(
  null,
  view('/proc', 'alive', 0, { pid: 2454 }),
  view('runc', 'init 2454', 0),
  view('shim', 'RUNNING', 3, { tookMs: 5, pid: 2454 }),
  view('CRI', 'SANDBOX_READY', 3, { tookMs: 2 }),
  view('/proc', 'alive', 5.5, { pid: 2454 }),
);
/** An umount that hangs in Delete, for a quarter of an hour. */
const APP = container(
  'app',
  view('/proc', 'gone', 0, { pid: 2503 }),
  view('runc', 'no record', 0, { says: 'absent' }),
  view('CRI status file', 'running', 0, { pid: 2503, since: time(-843) }),
  view('shim', 'no answer', 5, { tookMs: 2001 }),
  view('CRI', 'CONTAINER_RUNNING', 3, { tookMs: 2 }),
  view('CRI status file', 'running', 5.5, { pid: 2503, since: time(-843) }),
  view('/proc', 'gone', 5.5, { pid: 2503 }),
);

describe('the table of what each source says', () => {
  it('marks who cannot be right, and says when each was asked', () => {
    expect(disagrees(documentOf(PAUSE, APP))).toBe(true);
    expect(viewsTable(documentOf(PAUSE, APP))).toBe(
      [
        'CONTAINER   /PROC       RUNC        SHIM             CRI FILE                 CRI',
        'app         gone 2503   no record   no answer 2.0 s  running! for 14 min 9 s  RUNNING!',
        'pause       alive 2454  init 2454   RUNNING          -                        READY',
        'asked, UTC  12:00:05.5  12:00:00.0  12:00:03.0       12:00:05.5               12:00:03.0',
        'shim 2623 answered Connect in 4 ms',
        '! cannot be true beside what the others say',
        '',
      ].join('\n'),
    );
  });

  it('is without a mark where all agree', () => {
    expect(disagrees(documentOf(PAUSE))).toBe(false);
    expect(viewsTable(documentOf(PAUSE))).not.toContain('!');
  });

  it('shows only so many rows, those with a contradiction first', () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      container(`side-${index}`, view('/proc', 'alive', 0, { pid: 7 })),
    );
    const text = viewsTable(documentOf(...many, APP), { most: 3 });
    expect(
      text
        .split('\n')
        .slice(1, 6)
        .map(line => line.split(' ')[0]),
    ).toEqual(['app', 'side-0', 'side-1', 'asked,', 'and']);
    expect(text).toContain('and 18 more\n');
  });

  it('says of a shim that it does not answer, or that another one does', () => {
    const [shim] = documentOf().shims;
    if (shim === undefined) throw new Error('no shim');
    const silent = { ...shim, outcome: 'timeout', answeredBy: null, detail: 'no answer within 2000 ms' } as const;
    const replaced = { ...shim, answeredBy: 4711 };
    const text = viewsTable({ ...documentOf(PAUSE), shims: [silent, replaced] });
    expect(text).toContain('shim 2623 did not answer Connect: no answer within 2000 ms\n');
    expect(text).toContain('at the socket of shim 2623 answers 4711\n');
  });

  it('is safe for a terminal and fits it, whatever a container is called', () => {
    const text = viewsTable(documentOf(container(EVIL_BIDI, ...APP.views), container('n'.repeat(300), ...APP.views)));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
    expect(text.replaceAll('\n', '')).not.toMatch(/[\x00-\x1f\x7f]/);
    expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThanOrEqual(100);
  });
});
