import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { during } from '../during.ts';
import { grab } from '../grab/grab.ts';
import { leftovers } from '../leftovers.ts';
import { labUnavailable } from '../requirements.ts';
import type { Stall } from '../stalls/stall.ts';
import type { Case, Ground } from './case.ts';
import { grabCase } from './evaluate.ts';
import { expectNamed } from './expect-named.ts';
import { SILENT } from './silent.ts';
import { STALLS } from './stalls.ts';

async function grabAndExpect(made: Stall, each: Case<Stall>): Promise<void> {
  const grabbed = await grabCase(made, each, (folder, args) => grab(folder, args, { exit: each.exit ?? 0 }));
  await expectNamed(each, grabbed.file);
  await each.also?.(made, grabbed);
}

/** Made anew for each try: what it expects besides may undo the stall. */
function testAlone(ground: Ground, [each]: readonly [Case<Stall>]): void {
  it(`${each.kind}: ${each.how}`, async ({ skip }) => {
    const why = await ground.unavailable?.();
    if (why != null) skip(why);
    await during(ground.make(), made => grabAndExpect(made, each));
  });
}

function testTogether(ground: Ground, cases: readonly Case<Stall>[]): void {
  describe(ground.name, () => {
    let made: Stall;
    beforeAll(async () => {
      made = await ground.make();
    });
    afterAll(async () => {
      await made[Symbol.asyncDispose]();
      expect(leftovers(made.folder)).toEqual([]);
    });
    for (const each of cases) it(`${each.kind}: ${each.how}`, () => grabAndExpect(made, each));
  });
}

describe.skipIf(labUnavailable())('made in the lab, grabbed, and named right', () => {
  for (const ground of [...STALLS, ...SILENT]) {
    const [first, ...more] = ground.cases.filter(({ testedIn }) => testedIn === undefined);
    if (first === undefined) continue;
    if (more.length === 0) testAlone(ground, [first]);
    else testTogether(ground, [first, ...more]);
  }
});
