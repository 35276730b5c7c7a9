import { BundleError } from './bundle-error.ts';

/**
 * One header block of a tar (POSIX.1-2017, pax, "ustar Interchange Format").
 *
 * Own code and not tar-stream's: what is read here came from somebody else, and it is read only as far as bundles go.
 * tar-stream reads on behind the end of the archive, takes headers of 4 MiB, and cannot say how a stream ended.
 */
export interface TarHeader {
  readonly kind: 'file' | 'directory' | 'extended' | 'global' | 'long-name';
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/** Bytes: headers are one, and bodies are filled up to whole ones. */
export const BLOCK = 512;

/** null for a block of zeros. Throws BundleError: damaged-tar, not-a-file. */
export function parseTarHeader(block: Buffer): TarHeader | null {
  if (block.every(byte => byte === 0)) return null;
  if (octal(block, 148, 8) !== checksum(block)) throw new BundleError('damaged-tar', 'a tar header with a wrong sum');
  const magic = block.toString('latin1', 257, 262);
  if (magic !== 'ustar') throw new BundleError('damaged-tar', 'a tar header of an unknown kind');
  // Old GNU tar has times where ustar has the prefix, and ends its magic with a blank.
  const prefix = block[262] === 0 ? text(block, 345, 155) : '';
  const last = text(block, 0, 100);
  const name = prefix === '' ? last : `${prefix}/${last}`;
  const size = octal(block, 124, 12);
  return { kind: kindOf(block[156] ?? 0, name), name, size, modified: new Date(octal(block, 136, 12) * 1000) };
}

const KINDS: Readonly<Record<string, TarHeader['kind']>> = {
  '\0': 'file',
  0: 'file',
  5: 'directory',
  x: 'extended',
  g: 'global',
  L: 'long-name',
};

const REFUSED: Readonly<Record<string, string>> = {
  1: 'a hard link',
  2: 'a symbolic link',
  3: 'a character device',
  4: 'a block device',
  6: 'a pipe',
};

function kindOf(flag: number, name: string): TarHeader['kind'] {
  const letter = String.fromCharCode(flag);
  const kind = KINDS[letter];
  if (kind !== undefined) return kind;
  throw new BundleError(
    'not-a-file',
    `is ${REFUSED[letter] ?? 'of an unknown kind'}, and a bundle has only files`,
    name,
  );
}

/** Digits, then NUL or blank; GNU's binary numbers (above 8 GiB) are no bundle's. */
function octal(block: Buffer, at: number, length: number): number {
  const field = block.toString('latin1', at, at + length);
  const digits = /^ *([0-7]+)[ \0]*$/.exec(field);
  if (digits === null) throw new BundleError('damaged-tar', 'a tar header with a number that is none');
  return Number.parseInt(digits[1] as string, 8);
}

function text(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end === -1 ? length : end);
}

function checksum(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 0x20 : (block[at] as number);
  return sum;
}

/** The records of a PAX extended header: `<length> <key>=<value>\n`. Throws BundleError: damaged-tar. */
export function parseExtended(body: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  let at = 0;
  while (at < body.length) {
    const [, length, key] = /^(\d{1,6}) ([^=]{1,100})=/.exec(body.toString('latin1', at, at + 110)) ?? [];
    const end = at + Number(length);
    if (length === undefined || key === undefined || end > body.length || body[end - 1] !== 0x0a) {
      throw new BundleError('damaged-tar', 'a broken extended header');
    }
    const from = at + length.length + 1 + key.length + 1;
    if (from > end - 1) throw new BundleError('damaged-tar', 'a broken extended header');
    records.set(key, body.toString('latin1', from, end - 1));
    at = end;
  }
  return records;
}
