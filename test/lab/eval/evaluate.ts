/** Makes, grabs and judges, outside of vitest: `npm run eval`. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabFolder } from '../folder.ts';
import { stallcap } from '../grab/stallcap.ts';
import type { Stall } from '../stalls/stall.ts';
import type { Case, Ground } from './case.ts';
import { type Judged, judgeReport, reportOfFile } from './judged.ts';

export interface Evaluated extends Judged {
  readonly kind: string;
  readonly how: string;
}

/** Grabs one case. @param grab gets TARGET and arguments @returns what that returns */
export async function grabCase<T>(
  ground: Stall,
  each: Case<Stall>,
  grab: (folder: LabFolder, args: readonly string[]) => Promise<T>,
): Promise<T> {
  const target = await each.begin(ground);
  await sleep(each.settleMs);
  const over = new AbortController();
  const meanwhile = each.meanwhile?.(ground, over.signal);
  // Of interest when it is awaited, and no unhandled rejection before that.
  meanwhile?.catch(() => undefined);
  try {
    return await grab(ground.folder, [target, ...(each.args ?? TWO_SAMPLES)]);
  } finally {
    over.abort();
    await meanwhile;
  }
}

const TWO_SAMPLES = ['--samples', '2'];

/** All cases of a ground, one after another. A ground or case that fails is wrong for that reason. */
export async function evaluateGround(
  ground: Ground,
  keep: (kind: string, file: string) => void = () => undefined,
): Promise<readonly Evaluated[]> {
  const failed = ({ kind, how }: Case<Stall>, reason: string): Evaluated => ({
    kind,
    how,
    named: null,
    verdict: 'none',
    chainEnd: null,
    wrong: reason,
  });
  const done: Evaluated[] = [];
  try {
    await using made = await ground.make();
    for (const each of ground.cases) {
      try {
        const file = await grabCase(made, each, grabOnce);
        keep(each.kind, file);
        done.push({ kind: each.kind, how: each.how, ...judgeReport(await reportOfFile(file), each.expected) });
      } catch (error) {
        done.push(failed(each, `failed: ${(error as Error).message.split('\n')[0]}`));
      }
    }
  } catch (error) {
    const rest = ground.cases.slice(done.length);
    return [
      ...done,
      ...rest.map(each => failed(each, `could not be made: ${(error as Error).message.split('\n')[0]}`)),
    ];
  }
  return done;
}

let grabs = 0;

async function grabOnce(folder: LabFolder, args: readonly string[]): Promise<string> {
  grabs += 1;
  const out = join(folder.path, `eval-${grabs}`);
  mkdirSync(out);
  const run = await stallcap(folder, ['grab', ...args, '--signal-again', '-o', `${out}/`]);
  const [file] = readdirSync(out);
  if (file === undefined) throw new Error(`grab ended with ${run.exit}: ${run.stderr.slice(-300)}`);
  return join(out, file);
}
