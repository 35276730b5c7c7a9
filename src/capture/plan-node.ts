import { join } from 'node:path';
import type { Plan } from '../bundle/plan.ts';
import type { GrabOptions } from '../collectors/collector.ts';
import { collectors } from '../collectors/index.ts';
import type { Target } from '../sandbox/types.ts';
import { findTarget, type GrabNodeRequest, type GrabNodeTools, toolRecord, whereWeAre } from './grab-node.ts';
import type { Machine } from './grab-request.ts';
import { memoryRoom } from './memory-room.ts';
import { placesFor } from './places.ts';
import { planOf } from './plan-of.ts';

export interface Planned {
  readonly plan: Plan;
  /** Where the bundle would go, best first. */
  readonly places: readonly string[];
}

/** `stallcap grab --dry-run`: who is meant and what would be tried. Captures nothing, signals nobody, writes nowhere. */
export async function planNode(
  request: GrabNodeRequest,
  machine: Machine,
  { operator }: Pick<GrabNodeTools, 'operator'>,
): Promise<Planned> {
  const { inventory, target } = await findTarget(request, machine);
  const { options, argv, redact } = request;
  const wanted = collectors.filter(collector => isWanted(collector, options, target));
  const { plan, folder } = await planOf(
    { target, options, argv, collectors: wanted, redact, operator, tool: toolRecord() },
    machine.host,
  );
  const current = await whereWeAre(request.output, inventory, machine);
  const room = await memoryRoom(machine.host);
  const places = placesFor(request.output, `${folder}.tar.gz`, current, room, options.maxBytes).map(place =>
    place.kind === 'stdout' ? 'standard output' : join(place.dir, place.name),
  );
  return { plan, places };
}

function isWanted(
  { name, targets }: { readonly name: string; readonly targets?: readonly Target['kind'][] },
  { skip }: GrabOptions,
  { kind }: Target,
): boolean {
  return !skip.includes(name) && (targets === undefined || targets.includes(kind));
}
