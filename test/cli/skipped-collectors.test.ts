import { expect, test } from 'vitest';
import { skippedCollectors } from '../../src/cli/skipped-collectors.ts';

test('collectors are left out by their names', () => {
  expect(skippedCollectors('')).toEqual([]);
  expect(skippedCollectors('crictl, goroutine-signal,')).toEqual(['crictl', 'goroutine-signal']);
});

test('a name that no collector has is refused: a signal that was to be left out would be sent', () => {
  expect(() => skippedCollectors('crictl,goroutine_signal')).toThrow(
    expect.objectContaining({
      code: 'bad-value',
      exit: 2,
      message: "There is no collector called 'goroutine_signal', so it cannot be left out.",
      next: [expect.stringContaining('goroutine-signal')],
    }),
  );
});
