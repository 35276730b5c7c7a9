import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'vite';
import { describe, expect, it } from 'vitest';
import { pumpsOf } from './pumps.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What never meets a text of somebody else. */
const OWN_TEXT_ALONE: Readonly<Record<string, string>> = {
  'src/host/probe/ask-cpu-clocks.ts': 'what our own cat says of itself',
};

interface Pattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

function patternsOfTheProgram(): readonly Pattern[] {
  const found: Pattern[] = [];
  for (const file of globSync('{src,bin,commands}/**/*.{ts,js}', { cwd: ROOT })) {
    const { program } = parseSync(file, readFileSync(join(ROOT, file), 'utf8'));
    new Visitor({
      Literal(node) {
        if ('regex' in node) found.push({ file, source: node.regex.pattern, flags: node.regex.flags });
      },
    }).visit(program);
  }
  return found;
}

/** Characters. What is worse than quadratic has to be found on a short text, or it would not come back from the others. */
const SHORT = [22, 256];
const MOST_SHORT_MS = 3;
/** Four times as many take a linear pattern four times as long, also one that looks 300 letters ahead at each place; others sixteen. */
const [LONG, LONGER] = [16_384, 65_536];
const MOST_RATIO = 8.5;
/** Most take 0.1 ms for the long one: only beyond this the longer is tried, and below that its time says nothing. */
const WORTH_A_TRY_MS = 0.5;
const TELLING_MS = 8;
/** One try of so many is enough. */
const HOPELESS_MS = 300;
/** Of this thread's own time, whatever else the machine does; a collection of garbage does not come twice. */
const TRIES = 3;

/** The pump that makes a pattern slow; null for none. */
function slowOn({ source, flags }: Pick<Pattern, 'source' | 'flags'>): string | null {
  const pattern = new RegExp(source, flags);
  for (const { start, pump } of pumpsOf(source)) {
    const timeOf = (size: number, most: number) =>
      fastest(pattern, `${start}${pump.repeat(Math.ceil(size / pump.length))}\u0001\n\u0001`, most);
    const isSlow =
      SHORT.some(size => timeOf(size, MOST_SHORT_MS) > MOST_SHORT_MS) ||
      (timeOf(LONG, WORTH_A_TRY_MS) > WORTH_A_TRY_MS && growsTooFast(timeOf));
    if (isSlow) return JSON.stringify(`${start}|${pump}`);
  }
  return null;
}

/** By how many times as long the longer text takes, more than once: no machine is that slow by chance each time. */
function growsTooFast(timeOf: (size: number, most: number) => number): boolean {
  const longer = timeOf(LONGER, TELLING_MS);
  if (longer < TELLING_MS || longer > HOPELESS_MS) return longer > HOPELESS_MS;
  return [1, 2, 3].every(() => timeOf(LONGER, 0) / timeOf(LONG, 0) > MOST_RATIO);
}

/** ms, of tries that end with the first below `most`. */
function fastest(pattern: RegExp, text: string, most: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && least > most; attempt++) {
    pattern.lastIndex = 0;
    const began = process.threadCpuUsage().user;
    pattern.test(text);
    least = Math.min(least, (process.threadCpuUsage().user - began) / 1000);
    if (least > HOPELESS_MS) break;
  }
  return least;
}

describe('every regular expression of the program', () => {
  it('takes time in proportion to a text that was made to hold it up', () => {
    const patterns = new Map(patternsOfTheProgram().map(pattern => [pattern.source + pattern.flags, pattern]));
    expect(patterns.size).toBeGreaterThan(400);
    const slow = [...patterns.values()].flatMap(pattern => {
      const on = pattern.file in OWN_TEXT_ALONE ? null : slowOn(pattern);
      return on === null ? [] : [`${pattern.file}: /${pattern.source}/ on ${on}`];
    });
    expect(slow).toEqual([]);
  }, 60_000);

  it.each([
    String.raw`\0+$`,
    'waiting for container .* to be killed',
    String.raw`Killed process (\d+) \(([^)]*)\)`,
    String.raw`PodSandboxMetadata\{Name:[^,]*,Uid:[^,]*,Namespace:[^,}]*`,
    '(?:a+b?)+$',
  ])('would be found: %s', source => {
    expect(slowOn({ source, flags: '' })).not.toBeNull();
  });
});
