import { expect } from 'vitest';
import { leftovers } from './leftovers.ts';
import type { Stall } from './stalls/stall.ts';

/** Looks at a stall while it lasts, ends it whatever `look` found, and expects that nothing of it is left. */
export async function during<S extends Stall>(making: Promise<S>, look: (stall: S) => Promise<void>): Promise<void> {
  const stall = await making;
  try {
    await look(stall);
  } finally {
    await stall[Symbol.asyncDispose]();
  }
  expect(leftovers(stall.folder)).toEqual([]);
}
