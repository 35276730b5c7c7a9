import type { FirstLook, Host } from '../../host/port.ts';
import { takeInventory } from '../../sandbox/inventory.ts';
import type { Inventory } from '../../sandbox/types.ts';
import { type Check, lacks, ok } from './check.ts';
import { kernelFiles } from './kernel-files.ts';
import { logSinks } from './log-sinks.ts';
import { places } from './places.ts';
import { rights } from './rights.ts';
import { tools } from './tools.ts';

/** What `stallcap doctor --json` prints: schemas/doctor.schema.json. */
export interface DoctorDocument {
  readonly takenAt: string;
  readonly checks: readonly Check[];
  /** 0: a grab here can be complete. 3: it cannot. */
  readonly exitCode: 0 | 3;
}

const INVENTORY_MS = 5000;

/** What this node allows a grab, and what it lacks. Signals nobody and writes nothing. */
export async function examine(host: Host, firstLook: FirstLook | null): Promise<DoctorDocument> {
  const takenAt = host.now().wall;
  const inventory = await takeInventory(host, firstLook, INVENTORY_MS);
  const { daemons } = inventory;
  const checks = [
    ...rights(host),
    ...(await kernelFiles(host)),
    sandboxes(inventory),
    ...(await places(host, rootsIn(inventory))),
    ...(await logSinks(host, daemons)),
    ...(await tools(host, daemons)),
  ];
  return { takenAt, checks, exitCode: checks.some(({ outcome }) => outcome === 'lacks') ? 3 : 0 };
}

function sandboxes({ sandboxes: seen, gaps }: Inventory): Check {
  const [first] = gaps;
  const words = seen.length === 1 ? '1 sandbox is seen' : `${seen.length} sandboxes are seen`;
  if (first === undefined) return ok('sandboxes', words);
  const why = first.detail ?? first.outcome;
  return lacks('sandboxes', `${words}, and ${gaps.length} reads about them failed, first ${first.path}: ${why}`);
}

function rootsIn({ sandboxes: seen, daemons }: Inventory): readonly string[] {
  const shims = seen.flatMap(sandbox => sandbox.shims.map(({ root }) => root));
  return [...new Set([...shims, ...daemons.map(({ root }) => root)].filter(root => root !== null))];
}
