/** A value of a TOML document, as far as a path or a list of paths can be one. */
export type TomlValue = string | readonly string[];

export interface TomlDocument {
  /** Dotted path to value, quotes of the keys removed: `grpc.address`, `imports`. Numbers, booleans and dates are left out. */
  readonly values: ReadonlyMap<string, TomlValue>;
  /** Offset of what is no TOML; everything before it counts. Null for a whole document. */
  readonly faultAt: number | null;
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\x1b',
  '"': '"',
  '\\': '\\',
};

/**
 * The strings of a TOML document (toml.io, v1.0): all four kinds of strings, arrays over several lines, tables, dotted and
 * quoted keys, inline tables. Small on purpose: what containerd's config.toml says of places, nothing else. Never throws.
 */
export function parseToml(text: string): TomlDocument {
  const reader = new Reader(text);
  try {
    reader.document();
    return { values: reader.values, faultAt: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { values: reader.values, faultAt: reader.at };
  }
}

class Fault extends Error {}

/** Deep enough for any configuration, in keys and in values; a hostile one must not exhaust the stack, nor the memory. */
const MAX_DEPTH = 32;

/** Walks the text once, left to right. */
class Reader {
  readonly values = new Map<string, TomlValue>();
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): void {
    let table: readonly string[] = [];
    for (;;) {
      this.blanks();
      if (this.at >= this.text.length) return;
      if (this.take('[')) {
        const several = this.take('[');
        table = this.key();
        this.expect(']');
        if (several) this.expect(']');
      } else {
        this.pair(table, 0);
      }
      this.match(/[ \t]*(?:#[^\n]*)?/y);
      if (this.at < this.text.length && this.match(/\r?\n/y) === null) throw new Fault();
    }
  }

  private pair(table: readonly string[], depth: number): void {
    const path = [...table, ...this.key()];
    this.expect('=');
    this.match(/[ \t]*/y);
    const value = this.value(path, depth);
    if (value !== null) this.values.set(path.join('.'), value);
  }

  /** `a."b.c".d` */
  private key(): readonly string[] {
    const parts: string[] = [];
    do {
      if (parts.length > MAX_DEPTH) throw new Fault();
      this.match(/[ \t]*/y);
      const bare = this.match(/[A-Za-z0-9_-]+/y);
      parts.push(bare ?? this.string() ?? this.fault());
      this.match(/[ \t]*/y);
    } while (this.take('.'));
    return parts;
  }

  /** Null for what is neither a string nor an array of strings. */
  private value(path: readonly string[], depth: number): TomlValue | null {
    if (depth > MAX_DEPTH) throw new Fault();
    const string = this.string();
    if (string !== null) return string;
    if (this.take('[')) return this.array(path, depth);
    if (this.take('{')) return this.inlineTable(path, depth);
    if (this.match(/[^\s,\]}#]+/y) === null) throw new Fault();
    return null;
  }

  private array(path: readonly string[], depth: number): readonly string[] {
    const members: string[] = [];
    for (;;) {
      this.blanks();
      if (this.take(']')) return members;
      const member = this.value(path, depth + 1);
      if (typeof member === 'string') members.push(member);
      this.blanks();
      if (this.take(']')) return members;
      this.expect(',');
    }
  }

  private inlineTable(path: readonly string[], depth: number): null {
    for (;;) {
      this.blanks();
      if (this.take('}')) return null;
      this.pair(path, depth + 1);
      this.blanks();
      if (this.take('}')) return null;
      this.expect(',');
    }
  }

  /** Null when no string begins here. */
  private string(): string | null {
    const longBasic = this.match(/"""(?:[^"\\]|\\.|"{1,2}(?!"))*"""/sy);
    if (longBasic !== null) return withoutEscapes(withoutFirstLineEnd(longBasic.slice(3, -3)));
    const longLiteral = this.match(/'''(?:[^']|'{1,2}(?!'))*'''/y);
    if (longLiteral !== null) return withoutFirstLineEnd(longLiteral.slice(3, -3));
    const basic = this.match(/"(?:[^"\\\n]|\\[^\n])*"/y);
    if (basic !== null) return withoutEscapes(basic.slice(1, -1));
    return this.match(/'[^'\n]*'/y)?.slice(1, -1) ?? null;
  }

  /** White space, line ends and comments. */
  private blanks(): void {
    while (this.match(/[ \t\r\n]+|#[^\n]*/y) !== null);
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    this.at += found?.length ?? 0;
    return found;
  }

  private take(mark: string): boolean {
    if (!this.text.startsWith(mark, this.at)) return false;
    this.at += mark.length;
    return true;
  }

  private expect(mark: string): void {
    this.match(/[ \t]*/y);
    if (!this.take(mark)) throw new Fault();
  }

  private fault(): never {
    throw new Fault();
  }
}

function withoutFirstLineEnd(text: string): string {
  return text.replace(/^\r?\n/, '');
}

/** `\n`, `\u0041`, `\U00000041`, and a backslash at the end of a line, which joins it to the next. */
function withoutEscapes(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|\s*\n\s*|(.))/gs,
    (whole, short?: string, long?: string, mark?: string) => {
      const code = short ?? long;
      if (code !== undefined) {
        const point = Number.parseInt(code, 16);
        return point > 0x10ffff ? whole : String.fromCodePoint(point);
      }
      return mark === undefined ? '' : (ESCAPES[mark] ?? whole);
    },
  );
}
