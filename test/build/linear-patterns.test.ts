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

/** Characters. One that is worse than quadratic has to be found on a shorter text, or it would not come back. */
const SMALL = [22, 256, 16_384];
const LARGE = 65_536;
const MOST_SMALL_MS = 3;
/** For the last of the small ones 0.1 ms is usual: only beyond this the large one is tried. */
const WORTH_A_TRY_MS = 0.5;
/** For the large one: a linear pattern takes 0.2 ms, one that looks 300 characters ahead 8, one that starts anew at each word 30. */
const MOST_MS = 25;
/** Of this thread's own time, whatever else the machine does; a collection of garbage does not come twice. */
const TRIES = 3;

/** The pump that makes a pattern slow; null for none. */
function slowOn({ source, flags }: Pick<Pattern, 'source' | 'flags'>): string | null {
  const pattern = new RegExp(source, flags);
  for (const { start, pump } of pumpsOf(source)) {
    const timeOf = (size: number, most: number) =>
      fastest(pattern, `${start}${pump.repeat(Math.ceil(size / pump.length))}\u0001\n\u0001`, most);
    const isSlow =
      SMALL.some(size => timeOf(size, MOST_SMALL_MS) > MOST_SMALL_MS) ||
      (timeOf(SMALL.at(-1) ?? 0, WORTH_A_TRY_MS) > WORTH_A_TRY_MS && timeOf(LARGE, MOST_MS) > MOST_MS);
    if (isSlow) return JSON.stringify(`${start}|${pump}`);
  }
  return null;
}

/** ms, of tries that end with the first below `most`. */
function fastest(pattern: RegExp, text: string, most: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && least > most; attempt++) {
    pattern.lastIndex = 0;
    const began = process.threadCpuUsage().user;
    pattern.test(text);
    least = Math.min(least, (process.threadCpuUsage().user - began) / 1000);
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
    String.raw`Server:[\s\S]*?Version:\s+(\S+)`,
    String.raw`Killed process (\d+) \(([^)]*)\)`,
    String.raw`PodSandboxMetadata\{Name:[^,]*,Uid:[^,]*,Namespace:[^,}]*`,
    '(?:a+b?)+$',
  ])('would be found: %s', source => {
    expect(slowOn({ source, flags: '' })).not.toBeNull();
  });
});
