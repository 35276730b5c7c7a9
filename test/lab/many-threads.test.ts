import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status, withDescendants } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { manyThreads } from './stalls/many-threads.ts';

describe.skipIf(labUnavailable())('a node with many threads', () => {
  it('has as many as were asked for, and none of them afterwards', () =>
    during(manyThreads({ processes: 20, threadsEach: 50 }), async ({ pid, total }) => {
      const family = [...withDescendants([pid])];
      expect(family).toHaveLength(21);
      expect(family.reduce((sum, member) => sum + (status(member)?.threads ?? 0), 0)).toBe(total);
    }));
});
