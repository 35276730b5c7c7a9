import { describe, expect, it } from 'vitest';
import { gaps } from '../../src/bundle/gaps.ts';
import type { Item, NotGot } from '../../src/bundle/manifest.ts';

describe('gaps', () => {
  it('lists what is missing or partial, in the order in which it was tried, and nothing that is whole or not expected', () => {
    const made = { collector: 'c', phase: 'files', source: '/x', durationMs: 1, bytes: 1, sha256: '', redactions: 0 };
    const items: Item[] = [
      { ...made, path: 'whole', outcome: 'ok', offsetMs: 1 },
      { ...made, path: 'half', outcome: 'truncated', offsetMs: 5, detail: 'capped' },
      { ...made, path: 'nothing in it', outcome: 'empty', offsetMs: 6 },
    ];
    const notGot: NotGot[] = [
      { what: 'crictl', collector: 'crictl', phase: 'ask', outcome: 'absent', offsetMs: 2 },
      { what: '/proc/1/stack', collector: 'shim', phase: 'first-look', outcome: 'denied', offsetMs: 3 },
    ];
    expect(gaps({ items, notGot })).toEqual([
      { what: '/proc/1/stack', collector: 'shim', outcome: 'denied', detail: null },
      { what: 'half', collector: 'c', outcome: 'truncated', detail: 'capped' },
    ]);
  });
});
