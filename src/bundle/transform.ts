/** What a body became on its way into the bundle. */
export interface Transformed {
  readonly body: Buffer;
  /** How many secrets were taken out, in all and by kind. */
  readonly redactions: number;
  readonly kinds: Readonly<Record<string, number>>;
  /** Set when nothing was looked for. */
  readonly skipped?: 'binary' | 'off';
}

/** Takes secrets out of what goes into a bundle. */
export interface Transform {
  /** May take several turns of the event loop for a large body. */
  body(body: Buffer): Promise<Transformed>;
  /** A text of the manifest or the plan: an argv, a source, a note. */
  text(text: string): string;
}

/** `--no-redact`. */
export const AS_IT_IS: Transform = {
  body: async body => ({ body, redactions: 0, kinds: {}, skipped: 'off' }),
  text: text => text,
};

/** Deeper than any document of ours; one from somebody else must not exhaust the stack. */
const MOST_DEPTH = 200;

/**
 * The same value with `text` applied to every string in it; keys stay. A list of strings is taken as an argv, its members
 * divided by NULs as in /proc/<pid>/cmdline: `--password` stands in one, the password in the next.
 *
 * @throws RangeError for what is nested deeper than MOST_DEPTH
 */
export function mapStrings<T>(value: T, text: (text: string) => string): T {
  const walk = (node: unknown, depth: number): unknown => {
    if (typeof node === 'string') return text(node);
    if (node === null || typeof node !== 'object') return node;
    if (depth > MOST_DEPTH) throw new RangeError(`nested deeper than ${MOST_DEPTH}`);
    if (isArgv(node)) return mapArgv(node, text);
    if (Array.isArray(node)) return node.map(inner => walk(inner, depth + 1));
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, walk(inner, depth + 1)]));
  };
  return walk(value, 0) as T;
}

function isArgv(list: object): list is readonly string[] {
  return (
    Array.isArray(list) && list.length > 1 && list.every(member => typeof member === 'string' && !member.includes('\0'))
  );
}

function mapArgv(argv: readonly string[], text: (text: string) => string): readonly string[] {
  const mapped = text(argv.join('\0')).split('\0');
  return mapped.length === argv.length ? mapped : argv.map(text);
}
