import { EXIT, StallcapError } from '../errors.ts';
import type { FirstLook, Host } from '../host/port.ts';
import { uptimeSeconds } from './ages.ts';
import { type BlockedBySandbox, findBlocked } from './find-blocked.ts';
import { blockedWords, sandboxName, sandboxTable } from './sandbox-words.ts';
import type { Inventory, Sandbox, Target } from './types.ts';

/** A table that is read at three at night. */
const MOST_ROWS = 20;

/**
 * The one sandbox that looks stuck. Throws when it is none or several, with a table to choose from: those that look stuck,
 * the one blocked for longest first, or all when none does.
 */
export async function theStuckOne(
  { sandboxes }: Inventory,
  firstLook: FirstLook | null,
  host: Host,
  deadlineMs: number,
): Promise<Target> {
  const blocked = await findBlocked(host, sandboxes, { firstLook, deadlineMs });
  const stuck = sandboxes.filter(sandbox => longest(blocked, sandbox) !== null).sort(byLength(blocked));
  const [sandbox, ...others] = stuck;
  if (sandbox === undefined) throw noneStuck(sandboxes, host);
  if (others.length > 0) throw severalStuck(stuck, blocked, host);
  const thread = blocked.get(sandbox)?.[0];
  const how = `the only one that looks stuck: ${thread === undefined ? '' : blockedWords(thread)}`;
  return { kind: 'sandbox', asked: null, how, sandbox };
}

/** Null for a sandbox without a blocked thread. A thread of unknown age ranks last. */
function longest(blocked: BlockedBySandbox, sandbox: Sandbox): number | null {
  const [thread] = blocked.get(sandbox) ?? [];
  return thread === undefined ? null : (thread.blockedForSeconds ?? 0);
}

function byLength(blocked: BlockedBySandbox) {
  return (a: Sandbox, b: Sandbox) => (longest(blocked, b) ?? 0) - (longest(blocked, a) ?? 0);
}

function noneStuck(sandboxes: readonly Sandbox[], host: Host): StallcapError {
  const none = sandboxes.length === 0;
  const what = none
    ? 'There is no sandbox on this node'
    : sandboxes.length === 1
      ? 'The one sandbox of this node does not look stuck'
      : `None of the ${sandboxes.length} sandboxes of this node looks stuck`;
  return new StallcapError(`${what}, and no TARGET was given.`, {
    code: 'no-target-given',
    exit: EXIT.usage,
    next: [...(none ? [] : ['Name one: stallcap grab NAMESPACE/POD']), 'Capture the node alone: stallcap grab --node'],
    ...(none ? {} : { table: sandboxTable(sandboxes.slice(0, MOST_ROWS), uptimeSeconds(host)) }),
  });
}

function severalStuck(stuck: readonly Sandbox[], blocked: BlockedBySandbox, host: Host): StallcapError {
  const [first] = stuck;
  return new StallcapError(`${stuck.length} sandboxes look stuck; which one is meant?`, {
    code: 'ambiguous-target',
    exit: EXIT.usage,
    next: first === undefined ? [] : [`Name one, the longest blocked first: stallcap grab ${sandboxName(first)}`],
    table: sandboxTable(stuck.slice(0, MOST_ROWS), uptimeSeconds(host), blocked),
  });
}
