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
  body(body: Buffer, path: string): Promise<Transformed>;
  /** A text of the manifest or the plan: an argv, a source, a note. */
  text(text: string): string;
}

/** `--no-redact`. */
export const AS_IT_IS: Transform = {
  body: async body => ({ body, redactions: 0, kinds: {}, skipped: 'off' }),
  text: text => text,
};

/** The same value with `text` applied to every string in it; keys stay. */
export function mapStrings<T>(value: T, text: (text: string) => string): T {
  const walk = (node: unknown): unknown => {
    if (typeof node === 'string') return text(node);
    if (Array.isArray(node)) return node.map(walk);
    if (node === null || typeof node !== 'object') return node;
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, walk(inner)]));
  };
  return walk(value) as T;
}
