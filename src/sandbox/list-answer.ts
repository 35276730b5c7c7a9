import { printable } from '../formats/escape.ts';
import type { FirstLook, Host } from '../host/port.ts';
import { checkStatus, type StatusCheck } from './check-status.ts';
import { takeInventory } from './inventory.ts';
import { type ListedSandbox, listSandboxes } from './list-sandboxes.ts';
import { checkWords, listWords } from './list-words.ts';
import { missingRight, notPermitted } from './rights.ts';
import type { Inventory } from './types.ts';

/** What `stallcap list --json` prints: schemas/list.schema.json. */
export interface ListDocument {
  readonly takenAt: string;
  readonly sandboxes: readonly ListedSandbox[];
  readonly daemons: readonly ListedDaemon[];
  /** Only with --check. */
  readonly check?: StatusCheck;
  /** What hung or was denied while looking. */
  readonly gaps: Inventory['gaps'];
}

export type ListedDaemon = Pick<
  Inventory['daemons'][number],
  'kind' | 'pid' | 'procState' | 'address' | 'root' | 'state'
>;

export interface ListOptions {
  /** Compare status files with /proc. */
  readonly check: boolean;
  /** How long a disagreement must last. Default 1000. */
  readonly graceMs?: number;
}

/** Bounds of the parts; a node that answers needs a few hundred ms for all of them. */
const INVENTORY_MS = 5000;
const LOOK_MS = 5000;
const CHECK_MS = 6000;

/**
 * @returns `agrees`: false when with `check` a runtime and /proc disagree, or when a status file could not be read
 * @throws StallcapError `not-permitted` when not all sandboxes may be seen
 */
export async function listAnswer(host: Host, firstLook: FirstLook | null, { check, graceMs }: ListOptions) {
  const inventory = await takeInventory(host, firstLook, INVENTORY_MS);
  const right = missingRight(host, inventory);
  if (right !== null) throw notPermitted(right);
  const takenAt = host.now().wall;
  const sandboxes = await listSandboxes(host, inventory, firstLook, LOOK_MS);
  const checked = check ? await checkStatus(host, inventory, CHECK_MS, graceMs) : null;
  const json: ListDocument = {
    takenAt,
    sandboxes,
    daemons: inventory.daemons.map(({ kind, pid, procState, address, root, state }) => {
      return { kind, pid, procState, address, root, state };
    }),
    ...(checked === null ? {} : { check: checked }),
    gaps: inventory.gaps,
  };
  return {
    json,
    text: listWords(sandboxes) + (checked === null ? '' : `\n${checkWords(checked)}`),
    agrees: checked === null || (checked.disagreements.length === 0 && checked.gaps.length === 0),
    notRead: gapLines(inventory.gaps),
  };
}

/** More of them say nothing new: they hang in the same disk, or lack the same right. */
const MOST_GAPS = 5;

function gapLines(gaps: Inventory['gaps']): readonly string[] {
  const lines = gaps
    .slice(0, MOST_GAPS)
    .map(({ path, outcome, detail }) =>
      printable(`Not read: ${path}: ${outcome}${detail === undefined ? '' : ` (${detail})`}`),
    );
  return gaps.length > MOST_GAPS ? [...lines, `Not read: ${gaps.length - MOST_GAPS} more`] : lines;
}
