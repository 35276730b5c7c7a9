import { EXIT, StallcapError } from '../errors.ts';
import { printable } from '../formats/escape.ts';
import type { FirstLook, Host } from '../host/port.ts';
import { type Match, matchesOf } from './matches.ts';
import { sandboxOfProcess } from './pid-target.ts';
import { findRemnants, REMNANT_PLACES, type RemnantPlaces, remnantOf } from './remnants.ts';
import { missingRight, notPermitted } from './rights.ts';
import { theStuckOne } from './stuck.ts';
import { ambiguous, ambiguousRemnants, noSuchTarget, unknown } from './target-refusals.ts';
import type { Inventory, Target } from './types.ts';
import { isWithinAnother } from './within-another.ts';

export interface ResolveOptions {
  /** What the entry saw; without it shims are looked at anew where that is needed. */
  readonly firstLook: FirstLook | null;
  /** Default 3000. */
  readonly deadlineMs?: number;
  /** Where to look for what is left of a pod without a shim. Default: where kubelet and containerd keep it. */
  readonly places?: RemnantPlaces;
}

/** A disk that hangs must not eat the time of the capture. */
const DEADLINE_MS = 3000;

/**
 * Who is meant. `asked`: sandbox id or container id or a beginning of one (four characters or more), `namespace/pod`, pod
 * name, pod uid, `pid:<n>`, docker's name of a container; null: the one sandbox that looks stuck.
 *
 * @throws StallcapError `ambiguous-target` and `no-target-given` (2), `no-such-target` (4), `not-permitted` (5)
 */
export async function resolveTarget(
  asked: string | null,
  inventory: Inventory,
  host: Host,
  options: ResolveOptions,
): Promise<Target> {
  const right = missingRight(host, inventory);
  const { firstLook, deadlineMs = DEADLINE_MS, places = REMNANT_PLACES } = options;
  if (asked === null) {
    if (right !== null) throw notPermitted(right);
    return theStuckOne(inventory, firstLook, host, deadlineMs);
  }
  const pid = /^pid:(.*)$/s.exec(asked)?.[1];
  if (pid !== undefined) return byProcess(asked, pid, { inventory, host, deadlineMs, right });

  const matches = matchesOf(asked, inventory.sandboxes);
  // Of a pod that was made anew, what is left of the old one gives way to the one that can be captured.
  const alive = matches.filter(({ sandbox }) => sandbox.shims.length > 0);
  const [match, ...others] = alive.length > 0 ? outermost(alive, inventory, host) : matches;
  // Its shim may be one of those that could not be seen.
  if (match !== undefined && alive.length === 0 && right !== null) throw notPermitted(right);
  if (match !== undefined && others.length === 0) return targetOf(asked, match);
  if (match !== undefined) throw await ambiguous(asked, [match, ...others], host, { firstLook, deadlineMs });
  if (right !== null) throw notPermitted(right);

  const { remnants, gaps } = await findRemnants(asked, inventory, host, { places, deadlineMs });
  const [remnant, ...more] = remnants;
  if (remnant === undefined) throw unknown(asked, inventory, gaps, host);
  if (more.length > 0) throw ambiguousRemnants(asked, remnants);
  return { kind: 'remnant', asked, how: 'what is left on disk', remnant };
}

/** Of several, those that no container of another sandbox holds, where there are any. */
function outermost(matches: readonly Match[], { sandboxes }: Inventory, host: Host): readonly Match[] {
  if (matches.length < 2) return matches;
  const outer = matches.filter(({ sandbox }) => !isWithinAnother(sandbox, sandboxes, host));
  if (outer.length === 0 || outer.length === matches.length) return matches;
  return outer.map(match => ({ ...match, how: `${match.how}; what goes by it within a container was left aside` }));
}

function targetOf(asked: string, { sandbox, how }: Match): Target {
  if (sandbox.shims.length > 0) return { kind: 'sandbox', asked, how, sandbox };
  return { kind: 'remnant', asked, how, remnant: remnantOf(sandbox) };
}

interface Search {
  readonly inventory: Inventory;
  readonly host: Host;
  readonly deadlineMs: number;
  readonly right: string | null;
}

async function byProcess(
  asked: string,
  digits: string,
  { inventory, host, deadlineMs, right }: Search,
): Promise<Target> {
  if (!/^[1-9]\d{0,9}$/.test(digits)) {
    throw new StallcapError(`'${printable(asked)}' names no process: pid: wants a number.`, {
      code: 'bad-target',
      exit: EXIT.usage,
      next: ['Give the number of any process of the pod: pid:12345'],
    });
  }
  const { comm, match } = await sandboxOfProcess(Number(digits), inventory.sandboxes, host, deadlineMs);
  if (match !== null && (match.sandbox.shims.length > 0 || right === null)) return targetOf(asked, match);
  if (right !== null) throw notPermitted(right);
  const message =
    comm === null
      ? `There is no process ${digits} on this node.`
      : `Process ${digits} (${printable(comm)}) belongs to no sandbox of this node.`;
  throw noSuchTarget(message, '');
}
