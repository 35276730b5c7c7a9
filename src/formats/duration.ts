/** Durations and sizes: as people type them on a command line, and as they want to read them. */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/y;

/** `30s`, `1m30s`, `500ms`, `1.5h`, `2d` in ms; a bare number is taken for seconds. Null for anything else, and for more than 100 years. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return within(Number(trimmed) * 1000);
  let ms = 0;
  let previous = Number.POSITIVE_INFINITY;
  PART.lastIndex = 0;
  while (PART.lastIndex < trimmed.length) {
    const [, digits, unit = ''] = PART.exec(trimmed) ?? [];
    const size = UNIT_MS[unit];
    // Units fall from left to right: `30s1m` is a slip, not 90 seconds.
    if (size === undefined || size >= previous) return null;
    ms += Number(digits) * size;
    previous = size;
  }
  return trimmed === '' ? null : within(ms);
}

const HUNDRED_YEARS_MS = 36_525 * 86_400_000;
const within = (ms: number) => (ms <= HUNDRED_YEARS_MS ? ms : null);

/**
 * For people: `340 ms`, `20.2 s`, `14 min 3 s`, `3 h 12 min`, `12 d 4 h`. Two units at most, rounded at the smaller one.
 * `unknown` for what is no number.
 */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown';
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(minutes / 60);
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

const PREFIXES = ['K', 'M', 'G', 'T'] as const;

/** `128MiB`, `16M`, `64k`, `1.5GiB`, `4096`, `4096B` in bytes. Both `MB` and `M` mean 1024 squared, as everywhere among system tools. */
export function parseSize(text: string): number | null {
  const [, digits, prefix] = /^(\d+(?:\.\d+)?)\s*(?:([kmgt])(?:i?b)?|b)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  const power = prefix === undefined ? 0 : PREFIXES.indexOf(prefix.toUpperCase() as 'K') + 1;
  const bytes = Math.round(Number(digits) * 1024 ** power);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** For people: `812 B`, `31.4 KiB`, `12.0 GiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const power = Math.min(PREFIXES.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${PREFIXES[power - 1]}iB`;
}
