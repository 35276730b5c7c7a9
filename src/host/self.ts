import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/**
 * The command that starts this program again, for probes and writers: the running binary through /proc/self/exe, which
 * works also after the file was replaced or deleted, and for plain node the entry script.
 */
export type SelfCommand = readonly [file: string, ...args: string[]];

/** First argument of a child: hidden modes that the entry looks for before anything else. */
export const PROBE_ARGUMENT = '--stallcap-probe';
export const WRITER_ARGUMENT = '--stallcap-writer';

/** Set by scripts/build.ts. */
declare const STALLCAP_BUNDLED: true | undefined;

export function selfCommand(): SelfCommand {
  // From sources the caller may be a test or a script, which is no entry itself.
  if (typeof STALLCAP_BUNDLED === 'undefined') {
    return ['/proc/self/exe', fileURLToPath(new URL('../../bin/main.ts', import.meta.url))];
  }
  return isSea() ? ['/proc/self/exe'] : ['/proc/self/exe', process.argv[1] ?? ''];
}
