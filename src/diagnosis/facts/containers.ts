import { parseCriStatus } from '../../formats/runtime/cri-status.ts';
import { parseDockerContainer } from '../../formats/runtime/docker-container.ts';
import { parseRuncState } from '../../formats/runtime/runc-state.ts';
import type { Container } from '../../sandbox/types.ts';
import { type Citation, cite } from '../citation.ts';
import type { ContainerFacts, CriStatusFact, DockerFact, PodThreads, ProcessTable, Seen } from '../facts.ts';
import { containerCgroup } from './cgroups.ts';
import { citeFirst, citeLine, type Entries, looksAtInit, saysGone, sees, wasAbsent } from './entries.ts';
import { type Listed, parseListing, timesOf } from './listing.ts';
import type { Samples } from './samples.ts';
import { viewsOf } from './views.ts';
import type { Said } from './views-document.ts';

/** What each container of the target is, by every source that says something about it. Null where the target has none. */
export function containersFrom(
  entries: Entries,
  threads: PodThreads | null,
  processes: ProcessTable | null,
  samples: Samples | null,
  said: Said | null,
): readonly ContainerFacts[] | null {
  const { target } = entries.plan;
  const known = target.kind === 'sandbox' ? target.sandbox.containers : remnants(entries);
  if (known.length === 0) return null;
  const sandboxFirst = known.toSorted((a, b) => Number(b.kind === 'sandbox') - Number(a.kind === 'sandbox'));
  return sandboxFirst.map(container => factsOf(container, { entries, threads, processes, samples, said }));
}

/** Of a pod without a shim there are CRI's status files alone. */
function remnants(entries: Entries): readonly Container[] {
  return entries.matching(/^containers\/[^/]+\/status\.(?:json|stat)$/).flatMap(path => {
    const id = path.split('/')[1] ?? '';
    if (path.endsWith('.stat') && entries.text(`containers/${id}/status.json`) !== null) return [];
    const unknown = { initPid: null, initStartTicks: null, shimPid: null, name: null, bundle: '', runcState: '' };
    return [{ id, kind: 'container', how: 'CRI store', ...unknown }];
  });
}

interface Context {
  readonly entries: Entries;
  readonly threads: PodThreads | null;
  readonly processes: ProcessTable | null;
  readonly samples: Samples | null;
  readonly said: Said | null;
}

function factsOf(container: Container, context: Context): ContainerFacts {
  const { id, kind, name, shimPid, initPid } = container;
  const { entries, samples, said } = context;
  const init = initOf(container, context);
  const facts: Omit<ContainerFacts, 'views'> = {
    ...{ id, kind, name, shimPid, initPid },
    ...{ init: init?.state ?? null, initCite: init?.cite ?? null },
    seenBeforeStatusMs: initPid === null ? null : seenBeforeStatus(entries, id, initPid),
    bundle: bundleOf(entries, id),
    runc: runcOf(entries, id),
    execFifo: execFifoOf(entries, id),
    criStatus: kind === 'sandbox' ? null : criStatusOf(entries, id),
    docker: dockerOf(entries, id),
    shimAnswer: said?.shimAnswer(id) ?? null,
    runcErrors: runcErrorsOf(entries, id),
    cgroup: cgroupOf(entries, id, samples),
  };
  return { ...facts, views: said?.views(id) ?? viewsOf(facts, entries) };
}

/** The last look at its init: a pid of another start time belongs to somebody else. */
function initOf({ id, initPid }: Container, { entries, threads, processes }: Context) {
  if (initPid === null) return null;
  const looks = looksAtInit(entries, id);
  const last = looks.at(-1);
  const detail = last === undefined ? null : (entries.item(last)?.detail ?? null);
  if (detail?.includes('belongs to another process') === true) {
    return { state: 'reused' as const, cite: cite('manifest.json', null, detail) };
  }
  const leader = threads?.all.find(({ pid, tid, container }) => pid === initPid && tid === initPid && container === id);
  if (leader !== undefined) {
    const gone = last !== undefined && saysGone(entries.text(last) ?? '', initPid);
    const state = gone ? ('gone' as const) : leader.state === 'Z' ? ('zombie' as const) : ('alive' as const);
    return { state, cite: leader.cites[0] };
  }
  if (looks.length === 0 && wasAbsent(entries, `containers/${id}/threads-1.txt`)) {
    return { state: 'gone' as const, cite: absence(entries, `containers/${id}/threads-1.txt`) };
  }
  if (processes === null) return null;
  const row = processes.byPid.get(initPid);
  if (row !== undefined)
    return { state: row.stat.startsWith('Z') ? ('zombie' as const) : ('alive' as const), cite: row.cite };
  return { state: 'gone' as const, cite: cite('node/processes.txt', null, `no process ${initPid}`) };
}

/** A process that ends while it is captured is there in one file and gone in the next. */
function seenBeforeStatus(entries: Entries, id: string, initPid: number): number | null {
  const status = entries.item(`containers/${id}/status.json`);
  const looks = looksAtInit(entries, id).filter(path => sees(entries.text(path) ?? '', initPid));
  const last = entries.item(looks.at(-1) ?? '');
  if (status === null || last === null) return null;
  return status.offsetMs + status.durationMs - last.offsetMs;
}

/** That something is not there stands in the manifest. */
function absence(entries: Entries, path: string): Citation {
  const gap = entries.manifest?.notGot.find(candidate => candidate.path === path);
  const item = entries.item(path);
  return cite(
    'manifest.json',
    null,
    `${path}: ${item?.outcome ?? gap?.outcome ?? 'absent'}, ${item?.detail ?? gap?.detail ?? ''}`,
  );
}

function bundleOf(entries: Entries, id: string): ContainerFacts['bundle'] {
  const path = `containers/${id}/bundle.txt`;
  const text = entries.text(path);
  if (text !== null && text !== '') {
    return { files: parseListing(path, text).map(({ name }) => name), cite: citeLine(path, text, 1) };
  }
  return wasAbsent(entries, path) ? 'absent' : null;
}

function listed(entries: Entries, path: string): readonly Listed[] {
  const text = entries.text(path);
  return text === null ? [] : parseListing(path, text);
}

function runcOf(entries: Entries, id: string): ContainerFacts['runc'] {
  const path = `containers/${id}/runc/state.json`;
  const text = entries.text(path);
  const files = listed(entries, `containers/${id}/runc.txt`);
  const state = text === null ? null : parseRuncState(text);
  if (state !== null) {
    return {
      ...state,
      file: timesOf(files, 'state.json'),
      cite: cite(path, 1, `"id":"${state.id}","init_process_pid":${state.initPid}`),
    };
  }
  const missing = files.find(({ name }) => name === 'state.json')?.remark === 'not there';
  return missing ? 'absent' : null;
}

function execFifoOf(entries: Entries, id: string): boolean | null {
  const fifo = listed(entries, `containers/${id}/runc.txt`).find(({ name }) => name === 'exec.fifo');
  if (fifo === undefined) return null;
  return fifo.times !== null ? true : fifo.remark === 'not there' ? false : null;
}

function criStatusOf(entries: Entries, id: string): Seen<CriStatusFact> {
  const path = `containers/${id}/status.json`;
  const text = entries.text(path);
  const status = text === null ? null : parseCriStatus(text);
  if (text === null || status === null) return wasAbsent(entries, path) ? 'absent' : null;
  const files = listed(entries, `containers/${id}/status.stat`);
  return {
    ...status,
    startedAt: msOfNs(status.startedAtNs),
    finishedAt: msOfNs(status.finishedAtNs),
    file: timesOf(files, 'status'),
    temporary: files.map(({ name }) => name).filter(name => name !== 'status' && /tmp/i.test(name)),
    cite: citeFirst(path, text, /FinishedAt/),
  };
}

/** ns since 1970, decimal, to ms; null for 0: it has not happened. */
function msOfNs(ns: string): number | null {
  return ns === '0' ? null : Number(BigInt(ns) / 1000n) / 1000;
}

function dockerOf(entries: Entries, id: string): Seen<DockerFact> {
  const path = `containers/${id}/config.v2.json`;
  const text = entries.text(path);
  const container = text === null ? null : parseDockerContainer(text);
  if (text === null || container === null) return wasAbsent(entries, path) ? 'absent' : null;
  const { running, pid, finishedAt } = container;
  const file = timesOf(listed(entries, `containers/${id}/config.v2.stat`), 'config.v2.json');
  return {
    ...container,
    file,
    cite: cite(path, 1, `State: Running ${running}, Pid ${pid ?? 0}, FinishedAt ${finishedAt ?? '-'}`),
  };
}

/** runc's own errors, `--log` of the shim: `{"level":"error","msg":"…","time":"…"}`. */
function runcErrorsOf(entries: Entries, id: string): readonly Citation[] {
  const path = `containers/${id}/bundle/log.json`;
  const lines = entries.text(path)?.split('\n') ?? [];
  return lines.flatMap((line, index) => (/"level":"(?:error|fatal)"/.test(line) ? [cite(path, index + 1, line)] : []));
}

function cgroupOf(entries: Entries, id: string, samples: Samples | null): ContainerFacts['cgroup'] {
  const path = `containers/${id}/cgroup.txt`;
  const text = entries.text(path);
  if (text !== null && text !== '') return containerCgroup(path, text, samples);
  return wasAbsent(entries, path) ? 'absent' : null;
}
