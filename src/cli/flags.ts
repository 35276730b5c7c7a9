import { Flags } from '@oclif/core';
import { EXIT, StallcapError } from '../errors.ts';

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BYTES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, kB: 1e3, MB: 1e6, GB: 1e9 } as const;

function badValue(text: string, expected: string): StallcapError {
  return new StallcapError(`'${text}' is not ${expected}.`, { code: 'bad-value', exit: EXIT.usage });
}

function scaled(text: string, units: Readonly<Record<string, number>>, expected: string): number {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text);
  const unit = units[match?.[2] ?? ''];
  if (!match || unit === undefined) throw badValue(text, expected);
  return Math.round(Number(match[1]) * unit);
}

/** '500ms', '30s', '1.5m', '2h', '1d' to milliseconds. A bare number is refused: seconds to one reader are ms to another. */
export function parseDuration(text: string): number {
  return scaled(text, MS, 'a duration like 500ms, 30s, 5m or 2h');
}

/** '64KiB', '128MiB', '1GB' to bytes. */
export function parseSize(text: string): number {
  return scaled(text, BYTES, 'a size like 512KiB, 128MiB or 1GiB');
}

/** `duration({ summary, default: '30s' })`: the flag's value is in ms. */
export function duration(options: FlagOptions) {
  return measured(parseDuration, '<duration>', options);
}

/** `size({ summary, default: '128MiB' })`: the flag's value is in bytes. */
export function size(options: FlagOptions) {
  return measured(parseSize, '<size>', options);
}

/** `count({ summary, default: 3, min: 1, max: 100 })`: a whole number within bounds. */
export function count(options: { summary: string; default: number; min: number; max: number; char?: 'n' }) {
  const { min, max, ...rest } = options;
  return Flags.custom<number>({
    helpValue: '<number>',
    parse: async text => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      throw badValue(text, `a whole number from ${min} to ${max}`);
    },
  })({ ...rest, default: options.default });
}

interface FlagOptions {
  readonly summary: string;
  /** As the user would write it; shown in the help as it stands. */
  readonly default: string;
}

function measured(parse: (text: string) => number, helpValue: string, options: FlagOptions) {
  return Flags.custom<number>({ helpValue, parse: async text => parse(text) })({
    summary: options.summary,
    default: parse(options.default),
    defaultHelp: async () => options.default,
  });
}
