import { EXIT, StallcapError } from '../errors.ts';
import { printable } from '../formats/escape.ts';

/**
 * Why a file is refused or cannot be read on. Bundles come from others: none of these is a fault of this program.
 *
 * - `not-a-bundle`: no gzip, or no tar in it
 * - `damaged-tar`: a header that is none
 * - `bad-path`, `outside-folder`: absolute, with `..`, control characters, or not under the one folder
 * - `not-a-file`: a link, a device, a pipe
 * - `duplicate`: a second entry of the same path
 * - `bomb`: more unpacked bytes or entries than any bundle has
 * - `too-large`: an entry larger than the reader was ready for
 */
export type BundleErrorCode =
  | 'not-a-bundle'
  | 'damaged-tar'
  | 'bad-path'
  | 'outside-folder'
  | 'not-a-file'
  | 'duplicate'
  | 'bomb'
  | 'too-large';

/** A file is no bundle, or a bundle that cannot be trusted from here on: exit code 3. */
export class BundleError extends StallcapError {
  /** The entry, escaped for a terminal; null when it is about the file as a whole. */
  readonly path: string | null;
  /** The message without the path. */
  readonly says: string;

  constructor(code: BundleErrorCode, says: string, name?: string) {
    const path = name === undefined ? null : escaped(name);
    super(path === null ? says : `${path}: ${says}`, {
      code,
      exit: EXIT.incomplete,
      next: ['Ask for the bundle again; if it was unpacked and packed anew, ask for the original file.'],
    });
    this.path = path;
    this.says = says;
  }
}

/** A name out of somebody else's file, safe to print, 120 characters at most. */
function escaped(name: string): string {
  return printable(name.length > 120 ? `${name.slice(0, 120)}…` : name);
}
