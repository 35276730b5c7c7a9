import os from 'node:os';
import process from 'node:process';
import type { Operator, Tool } from '../bundle/manifest.ts';
import { redaction } from '../bundle/redact/redact.ts';
import { AS_IT_IS } from '../bundle/transform.ts';
import type { GrabOptions } from '../collectors/collector.ts';
import { collectors } from '../collectors/index.ts';
import { EXIT, StallcapError } from '../errors.ts';
import type { Output, Place } from '../host/output.ts';
import type { FirstLook, Host } from '../host/port.ts';
import { reportMarkdown } from '../report/markdown.ts';
import { summaryMarkdown } from '../report/summary.ts';
import { takeInventory } from '../sandbox/inventory.ts';
import { resolveTarget } from '../sandbox/resolve-target.ts';
import type { Inventory, Target } from '../sandbox/types.ts';
import { VERSION } from '../version.ts';
import { currentDirectory, workingDirectory } from './current-directory.ts';
import { grab } from './grab.ts';
import type { Grabbed, Machine } from './grab-request.ts';
import { afterwards, interruptible } from './interruptible.ts';
import { bundleBytes, memoryRoom, whySmaller } from './memory-room.ts';
import { patienceOf } from './patience.ts';
import { type CurrentDirectory, type OutputChoice, placesFor, whyElsewhere } from './places.ts';
import { tellGrab } from './tell-grab.ts';

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

/** The state directories are in memory on every node seen; one on a stalled disk gives what it gave by then. Of a usual run. */
const INVENTORY_MS = 3000;

/** Of this run. */
const inventoryMs = ({ options }: GrabNodeRequest) => INVENTORY_MS * patienceOf(options.timeoutMs);

/** `stallcap grab`: finds out who is meant, captures it, seals the bundle. */
export async function grabNode(request: GrabNodeRequest, machine: Machine, tools: GrabNodeTools): Promise<Grabbed> {
  const { host } = machine;
  host.bePatient(patienceOf(request.options.timeoutMs));
  const { inventory, target } = await findTarget(request, machine);
  const grabbed = await grab(
    {
      ...{ target, inventory, collectors, options: request.options, argv: request.argv, redact: request.redact },
      ...{ openOutput: tools.openOutput, operator: tools.operator, tool: toolRecord() },
      transform: request.redact ? redaction() : AS_IT_IS,
      async places(name) {
        const { maxBytes } = request.options;
        const [current, room] = await Promise.all([whereWeAre(request.output, inventory, machine), memoryRoom(host)]);
        const places = placesFor(request.output, name, current, room, maxBytes);
        const [first] = places;
        const notes = [whyElsewhere(request.output, current, first, room), whySmaller(first, room, maxBytes)];
        for (const note of notes) if (note !== null) tools.say(note);
        return { places, maxBytes: bundleBytes(first, room, maxBytes) };
      },
      summary: seen =>
        seen.report === null
          ? summaryMarkdown({ ...seen, architecture: process.arch }, host.startedAt, os.hostname())
          : reportMarkdown(seen.report),
    },
    machine,
  );
  await tellGrab(host, grabbed);
  return grabbed;
}

/** An interrupted run goes on for as long as a node that answers needs to say who is meant: what the entry saw is his. */
const INTERRUPTED_MS = 400;

/** Who is meant, out of what the node has. @throws StallcapError: nobody, several, or interrupted before it was known */
export async function findTarget(request: GrabNodeRequest, { host, firstLook, interruption }: Machine) {
  const bounded = interruptible(host, afterwards(interruption.signal, INTERRUPTED_MS));
  try {
    const inventory = await takeInventory(bounded, firstLook, inventoryMs(request));
    return { inventory, target: await targetOf(request, inventory, bounded, firstLook) };
  } catch (error) {
    if (interruption.cause === null) throw error;
    throw new StallcapError(
      `Interrupted (${interruption.cause}) before it was known who is meant: nothing was captured.`,
      {
        ...{ code: 'interrupted', exit: EXIT.incomplete, cause: error },
      },
    );
  }
}

async function targetOf(
  request: GrabNodeRequest,
  inventory: Inventory,
  host: Host,
  firstLook: FirstLook,
): Promise<Target> {
  if (request.nodeOnly) return { kind: 'node', asked: null, how: '--node' };
  return resolveTarget(request.asked, inventory, host, { firstLook, deadlineMs: inventoryMs(request) });
}

/** Only the default needs to know what lies below the current directory. */
export async function whereWeAre(
  output: OutputChoice,
  inventory: Inventory,
  { host }: Machine,
): Promise<CurrentDirectory> {
  const cwd = workingDirectory();
  if (cwd !== null && output.kind !== 'default') return { path: cwd, standing: 'apart' };
  return currentDirectory(host, cwd, persistentRoots(inventory));
}

/** Of every runtime of the node; the defaults where none says its own. */
function persistentRoots(inventory: Inventory): readonly string[] {
  const shims = inventory.sandboxes.flatMap(sandbox => sandbox.shims.map(({ root }) => root));
  const roots = [...shims, ...inventory.daemons.map(({ root }) => root)].filter(root => root !== null);
  return roots.length > 0 ? [...new Set(roots)] : ['/var/lib/containerd', '/var/lib/docker'];
}

/** This program, for plan and manifest. */
export function toolRecord(): Tool {
  return { name: 'stallcap', version: VERSION, runtime: `node ${process.versions.node}` };
}
