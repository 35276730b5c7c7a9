import { BundleReader } from '../bundle/read.ts';
import type { Citation } from '../diagnosis/citation.ts';
import { lineSink } from '../diagnosis/facts/lines.ts';

/** A line of an entry as evidence, with what stands around it. */
export interface QuotedLine {
  readonly number: number;
  readonly text: string;
  /** A claim rests on this line; the others are there to read it by. */
  readonly cited: boolean;
}

/** What is quoted of one entry. */
export interface Quote {
  readonly entry: string;
  /** Pieces of lines that follow each other. Empty for an entry that is cited as a whole. */
  readonly pieces: readonly (readonly QuotedLine[])[];
  /** Citations without a line. */
  readonly whole: readonly Citation[];
}

const MAX_TEXT = 400;
const AROUND = 2;
const MAX_BLOCK = 60;
/** Dumps of threads and of goroutines are read by the block: a heading and the stack below it. */
const BLOCKS = /(?:threads-\d|children-\d|blocked|goroutines)[^/]{0,64}\.txt$/;

/** The cited lines with those around them, read from the bundle in one pass; by the citation's own text where that cannot be. */
export async function quotesOf(
  citations: readonly Citation[],
  source: AsyncIterable<Uint8Array> | null,
): Promise<readonly Quote[]> {
  const byEntry = Map.groupBy(citations, ({ entry }) => entry);
  const around = source === null ? new Map<string, Lines>() : await readAround(byEntry, source);
  return [...byEntry].map(([entry, all]) => quoteOf(entry, all, around.get(entry) ?? new Map()));
}

type Lines = ReadonlyMap<number, string>;

async function readAround(
  wanted: ReadonlyMap<string, readonly Citation[]>,
  source: AsyncIterable<Uint8Array>,
): Promise<ReadonlyMap<string, Lines>> {
  const found = new Map<string, Lines>();
  const last = lastLines(wanted);
  if (last.size === 0) return found;
  for await (const entry of new BundleReader(source).entries()) {
    const until = last.get(entry.path);
    if (until === undefined) continue;
    const lines = new Map<number, string>();
    found.set(entry.path, lines);
    const isLast = found.size === last.size;
    const reader = collector(entry.path, wanted.get(entry.path) ?? [], lines);
    let behind = false;
    const sink = lineSink((line, number) => {
      behind ||= number > until;
      reader(line, number);
    });
    for await (const chunk of entry.chunks()) {
      if (!behind) sink.write(chunk);
      // What is behind the last line of all may be hundreds of megabytes.
      else if (isLast) return found;
    }
    if (!behind) sink.end();
    if (isLast) break;
  }
  return found;
}

/** Of each entry that lines are cited of: the last line that a quote can reach to. */
function lastLines(wanted: ReadonlyMap<string, readonly Citation[]>): ReadonlyMap<string, number> {
  const last = [...wanted].map(
    ([entry, citations]) => [entry, Math.max(0, ...citations.map(({ line }) => line ?? 0))] as const,
  );
  return new Map(last.filter(([, line]) => line > 0).map(([entry, line]) => [entry, line + MAX_BLOCK]));
}

function collector(path: string, citations: readonly Citation[], into: Map<number, string>) {
  const cited = new Set(citations.flatMap(({ line }) => line ?? []));
  const blocks = BLOCKS.test(path);
  const before: [number, string][] = [];
  let left = 0;
  return (line: string, number: number): void => {
    // A sample is a line of 100 kB: its citation says more than its beginning.
    const text = line.length > MAX_TEXT * 4 ? '' : line.slice(0, MAX_TEXT);
    if (cited.has(number)) {
      if (!blocks) for (const [at, earlier] of before) into.set(at, earlier);
      left = blocks ? MAX_BLOCK : AROUND;
      into.set(number, text);
    } else if (left > 0 && !(blocks && (text === '' || /^(?:=====|# process)/.test(text)))) {
      left -= 1;
      into.set(number, text);
    } else left = 0;
    before.push([number, text]);
    if (before.length > AROUND) before.shift();
  };
}

function quoteOf(entry: string, citations: readonly Citation[], lines: Lines): Quote {
  const own = new Map(citations.flatMap(({ line, text }): [number, string][] => (line === null ? [] : [[line, text]])));
  const numbers = [...new Set([...own.keys(), ...lines.keys()])].toSorted((a, b) => a - b);
  const pieces: QuotedLine[][] = [];
  for (const number of numbers) {
    const text = lines.get(number) || own.get(number) || '';
    const line = { number, text, cited: own.has(number) };
    const last = pieces.at(-1);
    if (last?.at(-1)?.number === number - 1) last.push(line);
    else pieces.push([line]);
  }
  const seen = new Set<string>();
  const whole = citations.filter(({ line, text }) => line === null && !seen.has(text) && seen.add(text));
  return { entry, pieces, whole };
}
