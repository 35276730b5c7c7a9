import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What was started or made for a folder, to be ended with it, even when its owner has crashed. */
export type LedgerEntry =
  | { readonly kind: 'process'; readonly pid: number; readonly startTicks: string; readonly what: string }
  /** A process that is not ours, and that we have stopped: it must go on. */
  | { readonly kind: 'stopped'; readonly pid: number; readonly startTicks: string }
  /** A state directory of a containerd: its bundles say which sockets and runc states are ours. */
  | { readonly kind: 'state'; readonly dir: string }
  /** A file or directory outside of the folder. */
  | { readonly kind: 'path'; readonly path: string };

const ledgerOf = (folder: string) => join(folder, 'ledger');

export function appendToLedger(folder: string, entry: LedgerEntry): void {
  appendFileSync(ledgerOf(folder), `${JSON.stringify(entry)}\n`);
}

/** What was noted in a folder so far; a line that a crash has cut is left out. */
export function readLedger(folder: string): LedgerEntry[] {
  const file = ledgerOf(folder);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line.endsWith('}'))
    .map(line => JSON.parse(line) as LedgerEntry);
}
