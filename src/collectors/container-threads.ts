import type { Evidence } from '../bundle/evidence.ts';
import { roleOf } from '../formats/proc/waiting-places.ts';
import type { ProcessLook } from '../host/port.ts';
import { clocksOf } from '../sandbox/clocks-of-looks.ts';
import type { Container, Shim } from '../sandbox/types.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, entryPart } from './evidence-of.ts';
import { processTree } from './process-tree.ts';
import { shimFolder } from './shim-folder.ts';
import { sameProcess, threadsEvidence } from './threads-evidence.ts';

/**
 * `containers/<id>/threads-1.txt`: all threads of a container's init. `<shim>/children-1.txt`: those of the shim's other
 * children and of what runc forked below them (runc, runc init). By a probe: a process held inside execve hangs whoever
 * reads its files.
 */
export const containerThreads: Collector = {
  name: 'container-threads',
  phase: 'first-look',
  deadlineMs: 4000,
  targets: ['sandbox'],
  collect: capture => look(capture, 1),
};

/** The same once per round: `threads-2.txt`, `children-2.txt`, … */
export const containerThreadsAgain: Collector = {
  name: 'container-threads-again',
  phase: 'samples',
  deadlineMs: 60_000,
  targets: ['sandbox'],
  async *collect(capture) {
    for await (const round of capture.rounds()) yield* look(capture, round + 1);
  },
};

/** Only the first look says of a container that it has no init; later ones leave it out. */
async function* look(capture: Capture, sample: number): AsyncGenerator<Evidence> {
  if (capture.target.kind !== 'sandbox') return;
  const { containers } = capture.target.sandbox;
  const withInit = containers.filter(container => container.initPid !== null);
  const inits = new Map(withInit.map(container => [container.initPid, container]));
  const others = new Map(capture.shims.map(shim => [shim, helpersOf(capture, shim, inits)]));

  const pids = [...withInit.flatMap(container => container.initPid ?? []), ...[...others.values()].flat()];
  const deadline = { ...deadlineOf(capture, 3000), itemMs: 500 };
  const looks = new Map((await capture.host.lookRisky(pids, deadline)).map(seen => [seen.pid, seen]));

  const clocks = await clocksOf(capture.host, [...looks.values()], deadlineOf(capture, 500));

  for (const container of containers) {
    const path = `containers/${entryPart(container.id)}/threads-${sample}.txt`;
    const seen = initOf(container, looks);
    const gone = seen === undefined || seen.outcome === 'gone';
    if (!gone || capture.notes.has(aliveNote(container))) {
      yield seen === undefined ? noAnswer(path, container) : threadsEvidence(path, [seen], clocks);
    } else if (sample === 1) {
      yield withoutInit(path, container);
    }
    if (gone) capture.notes.delete(aliveNote(container));
    else capture.notes.set(aliveNote(container), true);
  }
  for (const [shim, children] of others) {
    const path = `${shimFolder(capture.shims, shim)}/children-${sample}.txt`;
    // One that ended since it was found is no gap: runc comes and goes.
    const seen = children.flatMap(pid => looks.get(pid) ?? []).filter(({ outcome }) => outcome !== 'gone');
    if (seen.length > 0) yield threadsEvidence(path, seen, clocks);
    else if (sample === 1) yield withoutChildren(path, shim);
  }
}

/** Children of the shim that are no container's init, and everything below those of them that are runc, or crun, or the like. */
function helpersOf(capture: Capture, shim: Shim, inits: ReadonlyMap<number | null, Container>): readonly number[] {
  const helpers = new Map<number, string>();
  for (const { pid, ppid, comm } of processTree(capture.host, shim.pid).descendants) {
    const belowRunc = roleOf(helpers.get(ppid) ?? null) === 'runc';
    if (!inits.has(pid) && (ppid === shim.pid || belowRunc)) helpers.set(pid, comm);
  }
  return [...helpers.keys()];
}

function withoutChildren(path: string, shim: Shim): Evidence {
  return { path, source: `/proc/${shim.pid}/task/*/children`, outcome: 'empty', body: Buffer.alloc(0) };
}

/** Set while the last look found it alive: an init that goes during the capture is a gap, one that was gone before is not. */
const aliveNote = (container: Container): string => `init alive: ${container.id}`;

function initOf(container: Container, looks: ReadonlyMap<number, ProcessLook>): ProcessLook | undefined {
  const seen = container.initPid === null ? undefined : looks.get(container.initPid);
  return seen === undefined ? undefined : sameProcess(seen, container.initStartTicks);
}

function withoutInit(path: string, container: Container): Evidence {
  const detail =
    container.initPid === null
      ? 'no init process is known of this container'
      : `its init ${container.initPid} is not there any more`;
  return { path, source: sourceOf(container), outcome: 'absent', body: Buffer.alloc(0), detail };
}

function noAnswer(path: string, container: Container): Evidence {
  const detail = `no answer about pid ${container.initPid}`;
  return { path, source: sourceOf(container), outcome: 'timeout', body: Buffer.alloc(0), detail };
}

function sourceOf(container: Container): string {
  return `${container.runcState}/state.json ${container.bundle}/init.pid`;
}
