import { expect, test } from 'vitest';
import { completed } from '../../src/collectors/first-look.ts';
import { lookOf } from '../sandbox/looks.ts';

test('threads that the entry had no time for are those of the look after it', () => {
  const later = lookOf(70, 'containerd-shim', [{ wchan: 'later' }, { wchan: 'later' }, { wchan: 'later' }]);
  const first = lookOf(70, 'containerd-shim', [{ wchan: 'first' }]);
  const seen = { ...first, outcome: 'truncated', detail: '2 threads left', offsetMs: 30, durationMs: 150 } as const;
  const look = completed(seen, { ...later, offsetMs: 400, durationMs: 20 });
  expect(look.threads.map(({ tid, wchan }) => [tid, wchan])).toEqual([
    [70, 'first'],
    [71, 'later'],
    [72, 'later'],
  ]);
  expect(look).toMatchObject({ outcome: 'ok', offsetMs: 30, durationMs: 390, clock: seen.clock });
  expect(look.detail).toBeUndefined();
});
