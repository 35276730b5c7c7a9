import { type JsonObject, objectAt, objectsAt, parseObject, stringAt } from '../../formats/runtime/json.ts';
import { cite } from '../citation.ts';
import type { Belief, ContainerFacts, View } from '../facts.ts';
import { type Entries, looksAtInit, readAt } from './entries.ts';

/** What every source says of a container, and when it was asked. Those that said nothing are left out. */
export function viewsOf(facts: Omit<ContainerFacts, 'views'>, entries: Entries): readonly View[] {
  return [
    ...procView(facts, entries),
    ...runcView(facts, entries),
    ...shimView(facts),
    ...criView(facts, entries),
    ...dockerFileView(facts, entries),
    ...clientViews(facts, entries),
  ];
}

type Known = Omit<ContainerFacts, 'views'>;

function procView({ id, init, initCite }: Known, entries: Entries): readonly View[] {
  if (init === null || initCite === null) return [];
  const looks = looksAtInit(entries, id);
  const says: Belief = init === 'alive' ? 'running' : 'exited';
  const at = readAt(entries, looks.at(-1) ?? 'node/processes.txt');
  return [{ source: '/proc', says, word: init, at, tookMs: null, cite: initCite }];
}

/** runc's record goes with `runc delete`. It says nothing about a process that died since. */
function runcView({ id, runc, execFifo }: Known, entries: Entries): readonly View[] {
  if (runc === null) return [];
  const path = `containers/${id}/runc.txt`;
  const at = readAt(entries, path);
  if (runc === 'absent') {
    const text = cite(path, 2, entries.text(path)?.split('\n')[1] ?? 'state.json is not there');
    return [{ source: 'runc', says: 'absent', word: 'no record', at, tookMs: null, cite: text }];
  }
  if (execFifo !== true) return [];
  return [{ source: 'runc', says: 'created', word: 'exec.fifo', at, tookMs: null, cite: runc.cite }];
}

const OF_TASK: Readonly<Record<string, Belief>> = {
  CREATED: 'created',
  RUNNING: 'running',
  STOPPED: 'exited',
  PAUSED: 'paused',
  PAUSING: 'paused',
};

function shimView({ shimAnswer }: Known): readonly View[] {
  if (shimAnswer === null) return [];
  const { status, tookMs, cite: citation } = shimAnswer;
  return [{ source: 'shim', says: OF_TASK[status] ?? 'unknown', word: status, at: null, tookMs, cite: citation }];
}

function criView({ id, criStatus }: Known, entries: Entries): readonly View[] {
  if (criStatus === null || criStatus === 'absent') return [];
  const { state, cite: citation } = criStatus;
  const says: Belief = state === 'RUNNING' ? 'running' : state === 'EXITED' ? 'exited' : 'created';
  const at = readAt(entries, `containers/${id}/status.json`);
  return [{ source: 'CRI status file', says, word: state, at, tookMs: null, cite: citation }];
}

function dockerFileView({ id, docker }: Known, entries: Entries): readonly View[] {
  if (docker === null || docker === 'absent') return [];
  const { running, paused, cite: citation } = docker;
  const says: Belief = paused ? 'paused' : running ? 'running' : 'exited';
  const at = readAt(entries, `containers/${id}/config.v2.json`);
  return [
    { source: 'config.v2.json', says, word: running ? 'Running' : 'not Running', at, tookMs: null, cite: citation },
  ];
}

const OF_CRI: Readonly<Record<string, Belief>> = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  SANDBOX_READY: 'running',
  SANDBOX_NOTREADY: 'exited',
};

const OF_DOCKER: Readonly<Record<string, Belief>> = {
  created: 'created',
  running: 'running',
  paused: 'paused',
  exited: 'exited',
  dead: 'exited',
};

/** runtime/crictl-inspect-<id>.txt, crictl-inspectp.txt, docker-inspect-<id>.txt. */
function clientViews({ id, kind }: Known, entries: Entries): readonly View[] {
  const short = id.slice(0, 12);
  const crictl = kind === 'sandbox' ? 'inspectp' : `inspect-${short}`;
  return [
    ...clientView(entries, `runtime/crictl-${crictl}.txt`, 'crictl', document => {
      return stringAt(objectAt(document, 'status'), 'state');
    }),
    ...clientView(entries, `runtime/docker-inspect-${short}.txt`, 'docker', document => {
      return stringAt(objectAt(document, 'State'), 'Status');
    }),
  ];
}

function clientView(
  entries: Entries,
  path: string,
  source: string,
  wordIn: (document: JsonObject) => string | null,
): readonly View[] {
  const text = entries.text(path);
  if (text === null) return [];
  // docker answers with an array of one.
  const document = parseObject(text) ?? objectsAt(parseObject(`{"all":${text || 'null'}}`) ?? {}, 'all')[0];
  const word = document === undefined ? null : wordIn(document);
  if (word === null) return [];
  const says = OF_CRI[word] ?? OF_DOCKER[word] ?? 'unknown';
  const lines = text.split('\n');
  const line = lines.findIndex(candidate => candidate.includes(`"${word}"`));
  const at = readAt(entries, path);
  const tookMs = entries.item(path)?.durationMs ?? null;
  return [{ source, says, word, at, tookMs, cite: cite(path, line < 0 ? null : line + 1, lines[line] ?? word) }];
}
