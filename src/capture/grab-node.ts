import os from 'node:os';
import process from 'node:process';
import type { Operator, Tool } from '../bundle/manifest.ts';
import { redaction } from '../bundle/redact/redact.ts';
import { AS_IT_IS } from '../bundle/transform.ts';
import type { GrabOptions } from '../collectors/collector.ts';
import { collectors } from '../collectors/index.ts';
import type { Output, Place } from '../host/output.ts';
import { summaryMarkdown } from '../report/summary.ts';
import { takeInventory } from '../sandbox/inventory.ts';
import { resolveTarget } from '../sandbox/resolve-target.ts';
import type { Inventory, Target } from '../sandbox/types.ts';
import { VERSION } from '../version.ts';
import { currentDirectory } from './current-directory.ts';
import { type Grabbed, grab, type Machine } from './grab.ts';
import { type CurrentDirectory, type OutputChoice, placesFor, whyElsewhere } from './places.ts';

export interface GrabNodeRequest {
  /** TARGET as typed; null for the one sandbox that looks stuck. */
  readonly asked: string | null;
  /** `--node`: the node alone, whatever is asked. */
  readonly nodeOnly: boolean;
  readonly output: OutputChoice;
  readonly options: GrabOptions;
  readonly redact: boolean;
  readonly argv: readonly string[];
}

/** What only the machine's side can provide. */
export interface GrabNodeTools {
  readonly openOutput: (places: readonly Place[]) => Output;
  readonly operator: Operator;
  /** Something to know while it runs, one line: that the bundle goes elsewhere. */
  say(line: string): void;
}

/** The state directories are in memory on every node seen; one on a stalled disk gives what it gave by then. */
const INVENTORY_MS = 3000;

/** `stallcap grab`: finds out who is meant, captures it, seals the bundle. */
export async function grabNode(request: GrabNodeRequest, machine: Machine, tools: GrabNodeTools): Promise<Grabbed> {
  const { host, firstLook } = machine;
  const inventory = await takeInventory(host, firstLook, INVENTORY_MS);
  const target = await targetOf(request, inventory, machine);
  return grab(
    {
      ...{ target, inventory, collectors, options: request.options, argv: request.argv, redact: request.redact },
      ...{ openOutput: tools.openOutput, operator: tools.operator, tool: toolRecord() },
      transform: request.redact ? redaction() : AS_IT_IS,
      async places(name) {
        const current = await whereWeAre(request.output, inventory, machine);
        const why = whyElsewhere(request.output, current);
        if (why !== null) tools.say(why);
        return placesFor(request.output, name, current);
      },
      summary: seen => summaryMarkdown({ ...seen, architecture: process.arch }, host.startedAt, os.hostname()),
    },
    machine,
  );
}

async function targetOf(request: GrabNodeRequest, inventory: Inventory, machine: Machine): Promise<Target> {
  if (request.nodeOnly) return { kind: 'node', asked: null, how: '--node' };
  return resolveTarget(request.asked, inventory, machine.host, {
    firstLook: machine.firstLook,
    deadlineMs: INVENTORY_MS,
  });
}

/** Only the default needs to know what lies below the current directory. */
async function whereWeAre(output: OutputChoice, inventory: Inventory, { host }: Machine): Promise<CurrentDirectory> {
  const cwd = process.cwd();
  if (output.kind !== 'default') return { path: cwd, standing: 'apart' };
  return currentDirectory(host, cwd, persistentRoots(inventory));
}

/** Of every runtime of the node; the defaults where none says its own. */
function persistentRoots(inventory: Inventory): readonly string[] {
  const shims = inventory.sandboxes.flatMap(sandbox => sandbox.shims.map(({ root }) => root));
  const roots = [...shims, ...inventory.daemons.map(({ root }) => root)].filter(root => root !== null);
  return roots.length > 0 ? [...new Set(roots)] : ['/var/lib/containerd', '/var/lib/docker'];
}

function toolRecord(): Tool {
  return { name: 'stallcap', version: VERSION, runtime: `node ${process.versions.node}` };
}
