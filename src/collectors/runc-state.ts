import type { Evidence } from '../bundle/evidence.ts';
import type { FileResult } from '../host/port.ts';
import { isRuncShim, shimProgram } from '../sandbox/shim-program.ts';
import type { Container } from '../sandbox/types.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, evidenceOf, isMissing } from './evidence-of.ts';
import { type ListedFile, listing } from './listing.ts';
import { shimOf } from './runtime-places.ts';
import { withoutEnvValues } from './without-env-values.ts';

/**
 * `exec.fifo` is there from `runc create` until `runc start`; its presence says created, not started. `status` is what crun
 * has in place of state.json, in the same directory (crun src/libcrun/status.c).
 */
const NAMES = ['state.json', 'exec.fifo', 'status'] as const;

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
      const own = files.slice(index * NAMES.length, (index + 1) * NAMES.length);
      const [state] = own;
      if (state === undefined) continue;
      yield recordOf(capture, container, readAt, own);
      if (!isMissing(state)) yield withoutEnvValues(evidenceOf(`containers/${container.id}/runc/state.json`, state));
    }
  },
};

function recordOf(capture: Capture, container: Container, readAt: string, files: readonly FileResult[]): Evidence {
  const { id, runcState: directory } = container;
  const entry = { path: `containers/${id}/runc.txt`, source: directory };
  const shim = shimOf(capture, container);
  const [state, fifo, ofCrun] = files.map(file => (isMissing(file) ? null : file));
  if (!state && shim !== undefined && isRuncShim(shim) === false) {
    const detail = `its runtime is not runc: it has the shim ${shimProgram(shim)}`;
    return { ...entry, outcome: 'absent', body: Buffer.alloc(0), detail };
  }
  const row = (name: string, index: number): ListedFile => ({ name, file: files[index] ?? null });
  const rows = NAMES.map(row).filter(({ name }) => name !== 'status' || ofCrun);
  if (!state && ofCrun) {
    const [, ...others] = rows;
    const remark = 'its runtime is crun, which keeps status';
    const body = listing(directory, readAt, [{ name: 'state.json', file: null, remark }, ...others]);
    return { ...entry, outcome: 'ok', body };
  }
  const body = listing(directory, readAt, rows);
  if (state || fifo) return { ...entry, outcome: 'ok', body };
  return { ...entry, outcome: 'absent', body, detail: 'runc has no record of this container (any more)' };
}
