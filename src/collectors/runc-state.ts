import type { Evidence } from '../bundle/evidence.ts';
import { isRuncShim, shimProgram } from '../formats/runtime/shim-program.ts';
import type { FileResult } from '../host/port.ts';
import type { Container } from '../sandbox/types.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, evidenceOf, isMissing } from './evidence-of.ts';
import { type ListedFile, listing } from './listing.ts';
import { shimOf } from './runtime-places.ts';
import { withoutEnvValues } from './without-env-values.ts';

/**
 * runc's own record of each container: /run/containerd/runc/<namespace>/<id>, also where containerd's state directory
 * is elsewhere. A missing record is an answer, not a gap: with the shim alive and the rootfs still mounted,
 * `runc delete` is through and whatever hangs came after it. Of a runtime that is not runc (crun, kata, gVisor) it says
 * nothing, and is not called missing.
 */
export const runcState: Collector = {
  name: 'runc-state',
  phase: 'files',
  deadlineMs: 3000,
  targets: ['sandbox'],
  async *collect(capture) {
    if (capture.target.kind !== 'sandbox') return;
    const { containers } = capture.target.sandbox;
    const files = await capture.host.readRisky(
      containers.flatMap(({ runcState: directory }) => [
        { path: `${directory}/state.json`, withStat: true },
        { path: `${directory}/exec.fifo`, what: 'stat' as const },
        { path: `${directory}/status`, what: 'stat' as const },
      ]),
      deadlineOf(capture),
    );
    const readAt = capture.host.now().wall;
    for (const [index, container] of containers.entries()) {
      const [state, fifo, crun] = files.slice(index * PER_CONTAINER, (index + 1) * PER_CONTAINER);
      if (state === undefined || fifo === undefined || crun === undefined) continue;
      yield recordOf(capture, container, readAt, { state, fifo, crun });
      if (!isMissing(state)) yield withoutEnvValues(evidenceOf(`containers/${container.id}/runc/state.json`, state));
    }
  },
};

const PER_CONTAINER = 3;

/** What was asked for of one container. */
interface Found {
  readonly state: FileResult;
  /** There from `runc create` until `runc start`: it says created, not started. */
  readonly fifo: FileResult;
  /** `status`, which crun has in place of state.json, in the same directory (crun src/libcrun/status.c). */
  readonly crun: FileResult;
}

function recordOf(capture: Capture, container: Container, readAt: string, { state, fifo, crun }: Found): Evidence {
  const { id, runcState: directory } = container;
  const entry = { path: `containers/${id}/runc.txt`, source: directory };
  const shim = shimOf(capture, container);
  if (isMissing(state) && shim !== undefined && isRuncShim(shim) === false) {
    const detail = `its runtime is not runc: it has the shim ${shimProgram(shim)}`;
    return { ...entry, outcome: 'absent', body: Buffer.alloc(0), detail };
  }
  const isCrun = isMissing(state) && !isMissing(crun);
  const rows: readonly ListedFile[] = [
    {
      name: 'state.json',
      ...(isCrun ? { file: null, remark: 'its runtime is crun, which keeps status' } : { file: state }),
    },
    { name: 'exec.fifo', file: fifo },
    ...(isCrun ? [{ name: 'status', file: crun }] : []),
  ];
  const body = listing(directory, readAt, rows);
  const isNone = isMissing(state) && isMissing(fifo) && !isCrun;
  if (!isNone) return { ...entry, outcome: 'ok', body };
  return { ...entry, outcome: 'absent', body, detail: 'runc has no record of this container (any more)' };
}
