import { EXIT, StallcapError } from '../errors.ts';
import { printable } from '../formats/escape.ts';
import { textTable } from '../formats/text-table.ts';
import type { FirstLook, Host } from '../host/port.ts';
import { uptimeSeconds } from './ages.ts';
import { findBlocked } from './find-blocked.ts';
import type { Match } from './matches.ts';
import { nearMatches } from './near-matches.ts';
import type { Gap } from './reads.ts';
import { sandboxTable, shortId } from './sandbox-words.ts';
import type { Inventory, Remnant, Sandbox } from './types.ts';

/** Why a target is not captured, in words for whoever typed it: errors to throw. */

/** After a forced deletion a pod of the same name stands beside the one that is stuck: what is blocked in each tells them apart. */
export async function ambiguous(
  asked: string,
  matches: readonly Match[],
  host: Host,
  { firstLook, deadlineMs }: { readonly firstLook: FirstLook | null; readonly deadlineMs: number },
): Promise<StallcapError> {
  const found = matches.map(({ sandbox }) => sandbox);
  const blocked = await findBlocked(host, found, { firstLook, deadlineMs });
  const isAny = found.some(sandbox => blocked.get(sandbox)?.length);
  const forSeconds = (sandbox: Sandbox) => blocked.get(sandbox)?.[0]?.blockedForSeconds ?? 0;
  const sandboxes = found.toSorted((a, b) => forSeconds(b) - forSeconds(a));
  const hows = [...new Set(matches.map(({ how }) => how))].join(', ');
  return new StallcapError(`'${printable(asked)}' means ${matches.length} sandboxes (${hows}).`, {
    code: 'ambiguous-target',
    exit: EXIT.usage,
    next: [`Name one of them by its id: stallcap grab ${shortId(sandboxes[0]?.id ?? '')}`],
    table: sandboxTable(sandboxes, uptimeSeconds(host), isAny ? blocked : undefined),
  });
}

/** What is left on disk of several. */
export function ambiguousRemnants(asked: string, remnants: readonly Remnant[]): StallcapError {
  return new StallcapError(`'${printable(asked)}' means ${remnants.length} pods or containers that have no shim.`, {
    code: 'ambiguous-target',
    exit: EXIT.usage,
    next: ['Name one of them: NAMESPACE/POD, or more of the id.'],
    table: textTable(
      ['POD', 'ID', 'LEFT'],
      remnants.map(({ pod, ids, paths }) => [
        pod === null ? '-' : `${pod.namespace}/${pod.name}`,
        ids[0] ?? '-',
        paths[0] ?? '-',
      ]),
    ),
  });
}

/** More of them say nothing new: they hang in the same disk. */
const MOST_UNSEEN = 5;

/** Nobody is called so, as far as could be seen. */
export function unknown(
  asked: string,
  { sandboxes, gaps }: Inventory,
  ofRemnants: readonly Gap[],
  host: Host,
): StallcapError {
  const near = nearMatches(asked, sandboxes);
  // A command line names nobody that its working directory does not name as well.
  const ofBundles = gaps.filter(({ path }) => !path.endsWith('/cmdline'));
  const unseen = [...ofBundles, ...ofRemnants]
    .slice(0, MOST_UNSEEN)
    .map(({ path, outcome }) => `Not looked at, and may be the one: ${printable(path)} (${outcome}).`);
  const message = `No pod, container or process of this node is called '${printable(asked)}'.`;
  return noSuchTarget(message, near.length === 0 ? '' : sandboxTable(near, uptimeSeconds(host)), unseen);
}

/** Exit code 4. @param table of what is near it, as text; empty for nothing */
export function noSuchTarget(message: string, table: string, more: readonly string[] = []): StallcapError {
  return new StallcapError(table === '' ? message : `${message} Near it:`, {
    code: 'no-such-target',
    exit: EXIT.noTarget,
    next: [...more, 'See what there is: stallcap list', 'Capture the node alone: stallcap grab --node'],
    ...(table === '' ? {} : { table }),
  });
}
