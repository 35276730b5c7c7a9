import { parseRuncState, RUNC_STATE_BEGINNING_BYTES } from '../formats/runtime/runc-state.ts';
import { isRuncShim } from '../formats/runtime/shim-program.ts';
import type { Source, View } from '../formats/views/view.ts';
import type { FileRequest, FileResult, Host } from '../host/port.ts';
import { initStates } from './inits.ts';
import { procView } from './proc-view.ts';
import { readProcessTree } from './process-tree.ts';
import { type ReadFiles, readsWithin } from './reads.ts';
import { criStores, dockerStores, statusFileOf, viewOfStatusFile } from './status-files.ts';
import type { Container, Inventory, Sandbox } from './types.ts';
import { timeOfNs, wallTime } from './wall-time.ts';

/**
 * What /proc, runc's record and the runtimes' status files say of each container of a sandbox, nobody asked. /proc is read
 * last: who writes "exited" is wrong only if the process is there afterwards.
 */
export async function passiveViews(
  host: Host,
  sandbox: Sandbox,
  daemons: Inventory['daemons'],
  deadlineMs: number,
): Promise<ReadonlyMap<string, readonly View[]>> {
  const { containers } = sandbox;
  const reads = readsWithin(host, deadlineMs);
  const stores = { sandboxes: [sandbox], daemons };
  const statuses = new Map(containers.map(container => [container, statusPaths(container, sandbox, stores)]));
  const files = await reads.read(
    containers.flatMap(container => [
      ...runcRequests(container),
      ...(statuses.get(container) ?? []).map(path => ({ path, withStat: true })),
    ]),
  );
  const states = await initStates(host, containers, readProcessTree(host), deadlineMs);
  const at = wallTime(host, host.now().offsetMs);
  return new Map(
    containers.map(container => [
      container.id,
      [
        ...(hasRecordOfRunc(container, sandbox, files) ? runcView(container, files, host) : []),
        ...statusView(container, sandbox, statuses.get(container) ?? [], files, host),
        procView(states.get(container) ?? null, container.initPid, at),
      ],
    ]),
  );
}

/** Sandboxes have no status file: theirs is in containerd's database. */
function statusPaths(
  { id, kind }: Container,
  { runtime, namespace }: Sandbox,
  stores: Pick<Inventory, 'sandboxes' | 'daemons'>,
): readonly string[] {
  if (runtime === 'docker') return dockerStores(stores).map(store => `${store}/${id}/config.v2.json`);
  if (kind === 'sandbox' || namespace !== CRI_NAMESPACE) return [];
  return criStores(stores).map(store => `${store}/${id}/status`);
}

/** containerd's namespace of everything that CRI made. */
export const CRI_NAMESPACE = 'k8s.io';

function statusView(
  { id }: Container,
  { runtime }: Sandbox,
  paths: readonly string[],
  files: ReadFiles,
  host: Host,
): readonly View[] {
  const by = runtime === 'docker' ? 'docker' : 'CRI';
  const read = paths.flatMap(path => files.get(path) ?? []);
  const found = read.map(file => statusFileOf(by, id, file)).find(status => status !== null);
  if (found) return [viewOfStatusFile(found, host)];
  const file = read.find(({ outcome }) => outcome !== 'gone') ?? read[0];
  return file === undefined ? [] : [unread(by === 'CRI' ? 'CRI status file' : 'config.v2.json', file, host)];
}

/** exec.fifo is there from `runc create` until `runc start`; `status` in place of state.json is crun's. */
function runcRequests({ runcState }: Container): readonly FileRequest[] {
  return [
    { path: `${runcState}/state.json`, maxBytes: RUNC_STATE_BEGINNING_BYTES, withStat: true },
    { path: `${runcState}/exec.fifo`, what: 'stat' },
    { path: `${runcState}/status`, what: 'stat' },
  ];
}

/** False where there is none because the runtime is another one: that says nothing of the container. */
function hasRecordOfRunc({ runcState, shimPid }: Container, { shims }: Sandbox, files: ReadFiles): boolean {
  if (files.get(`${runcState}/state.json`)?.outcome !== 'gone') return true;
  const shim = shims.find(({ pid }) => pid === shimPid);
  const isOther = shim !== undefined && isRuncShim(shim) === false;
  return !isOther && files.get(`${runcState}/status`)?.outcome !== 'ok';
}

/**
 * runc has a record from its create to its delete, and tells running from stopped by /proc as we do: what it says of its own
 * is whether the container was started, and which process is its init.
 */
function runcView({ runcState }: Container, files: ReadFiles, host: Host): readonly View[] {
  const file = files.get(`${runcState}/state.json`);
  if (file === undefined) return [];
  const state = parseRuncState(file.body.toString('utf8'));
  if (state === null) return [unread('runc', file, host)];
  const created = files.get(`${runcState}/exec.fifo`)?.outcome === 'ok';
  const said = { at: wallTime(host, file.offsetMs), tookMs: null, pid: state.initPid };
  const record = { source: 'runc', ...said, since: timeOfNs(file.stat?.mtimeNs) } as const;
  if (created) return [{ ...record, says: 'created', word: 'created' }];
  return [{ ...record, says: 'unknown', word: `init ${state.initPid ?? 'unknown'}` }];
}

function unread(source: Source, { outcome, detail, offsetMs }: FileResult, host: Host): View {
  const said = { source, at: wallTime(host, offsetMs), tookMs: null, pid: null, since: null } as const;
  if (outcome === 'gone') return { ...said, says: 'absent', word: 'no record' };
  const word = outcome === 'timeout' ? 'no answer' : outcome === 'ok' ? 'unreadable' : outcome;
  return { ...said, says: 'unknown', word, ...(detail === undefined ? {} : { detail }) };
}
