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

/**
 * The same value with `text` applied to every string in it; keys stay. A list of strings is taken as an argv, its members
 * divided by NULs as in /proc/<pid>/cmdline: `--password` stands in one, the password in the next.
 */
export function mapStrings<T>(value: T, text: (text: string) => string): T {
  const walk = (node: unknown): unknown => {
    if (typeof node === 'string') return text(node);
    if (Array.isArray(node)) return isArgv(node) ? mapArgv(node as readonly string[], text) : node.map(walk);
    if (node === null || typeof node !== 'object') return node;
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, walk(inner)]));
  };
  return walk(value) as T;
}

function isArgv(list: readonly unknown[]): boolean {
  return list.length > 1 && list.every(member => typeof member === 'string' && !member.includes('\0'));
}

function mapArgv(argv: readonly string[], text: (text: string) => string): readonly string[] {
  const mapped = text(argv.join('\0')).split('\0');
  return mapped.length === argv.length ? mapped : argv.map(text);
}
