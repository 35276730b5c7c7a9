import { Flags } from '@oclif/core';
import { EXIT, StallcapError } from '../errors.ts';
import { parseDuration, parseSize } from '../formats/duration.ts';

function badValue(text: string, expected: string): StallcapError {
  return new StallcapError(`'${text}' is not ${expected}.`, { code: 'bad-value', exit: EXIT.usage });
}

/** `duration({ summary, default: '30s' })`: the flag's value is in ms. */
export function duration(options: FlagOptions) {
  return measured(parseDuration, '<duration>', 'a duration like 500ms, 30s, 5m or 2h', options);
}

/** `size({ summary, default: '128MiB' })`: the flag's value is in bytes. */
export function size(options: FlagOptions) {
  return measured(parseSize, '<size>', 'a size like 512KiB, 128MiB or 1GiB', options);
}

/** `count({ summary, default: 3, min: 1, max: 100 })`: a whole number within bounds. */
export function count(options: { summary: string; default: number; min: number; max: number }) {
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

function measured(
  read: (text: string) => number | null,
  helpValue: string,
  expected: string,
  { summary, default: preset }: FlagOptions,
) {
  const parse = (text: string): number => {
    const value = read(text);
    if (value === null) throw badValue(text, expected);
    return value;
  };
  return Flags.custom<number>({ helpValue, parse: async text => parse(text) })({
    summary,
    default: parse(preset),
    defaultHelp: async () => preset,
  });
}
