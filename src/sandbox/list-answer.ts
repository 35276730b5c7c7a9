import { printable } from '../formats/escape.ts';
import type { FirstLook, Host } from '../host/port.ts';
import { auditShims, type ShimAudit } from './audit-shims.ts';
import { checkStatus, type StatusCheck } from './check-status.ts';
import { takeInventory } from './inventory.ts';
import { type ListedSandbox, listSandboxes } from './list-sandboxes.ts';
import { checkWords, listWords, probeWords } from './list-words.ts';
import { answers, type ProbedShim, probeShims } from './probe-shims.ts';
import { missingRight, notPermitted } from './rights.ts';
import type { Inventory } from './types.ts';

/** What `stallcap list --json` prints: schemas/list.schema.json. */
export interface ListDocument {
  readonly takenAt: string;
  readonly sandboxes: readonly ListedSandbox[];
  readonly daemons: readonly ListedDaemon[];
  /** Only with --check. */
  readonly check?: StatusCheck & ShimAudit;
  /** Only with --probe: every shim of the list, in its order. */
  readonly probe?: readonly ProbedShim[];
  /** What hung or was denied while looking. */
  readonly gaps: Inventory['gaps'];
}

export type ListedDaemon = Pick<
  Inventory['daemons'][number],
  'kind' | 'pid' | 'procState' | 'address' | 'root' | 'state'
>;

export interface ListOptions {
  /** Compare status files with /proc, and shims with their children and bundles. */
  readonly check: boolean;
  /** Ask every shim Connect. */
  readonly probe?: boolean;
  /** How long a disagreement must last. Default 1000. */
  readonly graceMs?: number;
}

/** Bounds of the parts; a node that answers needs a few hundred ms for all of them. */
const INVENTORY_MS = 5000;
const LOOK_MS = 5000;
const CHECK_MS = 6000;
const PROBE_MS = 5000;

/**
 * @returns `agrees`: false when with `check` a runtime and /proc disagree, a shim serves nothing, a bundle has no shim, or a
 *   status file could not be read; when with `probe` a shim does not answer
 * @throws StallcapError `not-permitted` when not all sandboxes may be seen
 */
export async function listAnswer(host: Host, firstLook: FirstLook | null, options: ListOptions) {
  const inventory = await takeInventory(host, firstLook, INVENTORY_MS);
  const right = missingRight(host, inventory);
  if (right !== null) throw notPermitted(right);
  const takenAt = host.now().wall;
  const sandboxes = await listSandboxes(host, inventory, firstLook, LOOK_MS);
  const [checked, probed] = await Promise.all([
    options.check ? checkAll(host, inventory, options.graceMs) : null,
    options.probe === true ? probeShims(host, inventory, PROBE_MS) : null,
  ]);
  const json: ListDocument = {
    takenAt,
    sandboxes,
    daemons: inventory.daemons.map(({ kind, pid, procState, address, root, state }) => {
      return { kind, pid, procState, address, root, state };
    }),
    ...(checked === null ? {} : { check: checked }),
    ...(probed === null ? {} : { probe: probed }),
    gaps: inventory.gaps,
  };
  return {
    json,
    text: [
      listWords(sandboxes),
      ...(checked === null ? [] : [checkWords(checked)]),
      ...(probed === null ? [] : [probeWords(probed)]),
    ].join('\n'),
    agrees: (checked === null || isClean(checked)) && (probed === null || probed.every(answers)),
    notRead: gapLines(inventory.gaps),
  };
}

async function checkAll(host: Host, inventory: Inventory, graceMs?: number): Promise<StatusCheck & ShimAudit> {
  const [statuses, shims] = await Promise.all([
    checkStatus(host, inventory, CHECK_MS, graceMs),
    auditShims(host, inventory, CHECK_MS, graceMs),
  ]);
  return { ...statuses, ...shims };
}

function isClean({ disagreements, gaps, shimsWithoutChildren, bundlesWithoutShim }: StatusCheck & ShimAudit): boolean {
  return [disagreements, gaps, shimsWithoutChildren, bundlesWithoutShim].every(({ length }) => length === 0);
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
