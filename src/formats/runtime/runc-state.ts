import { digitsAt, objectAt, parseObject, pidAt, stringAt, stringsAt } from './json.ts';

/** runc's `<root>/<namespace>/<id>/state.json`: libcontainer/container.go BaseState. */
export interface RuncState {
  readonly id: string;
  /** In the host's pid namespace. */
  readonly initPid: number | null;
  /** Clock ticks since boot: field 22 of the init's /proc/<pid>/stat, as long as it is the same process. */
  readonly initStartTicks: string | null;
  /** RFC 3339. */
  readonly created: string | null;
  /** The annotations again, and `bundle=<path>`. Empty when only the file's beginning was read. */
  readonly labels: ReadonlyMap<string, string>;
}

/** The file's own beginning, in the order of the Go struct: with a seccomp profile in it the rest is 30 kB and more. */
const BEGINNING = /^\{"id":"([^"\\]+)","init_process_pid":(\d+),"init_process_start":(\d+),"created":"([^"\\]*)"/;

/** 512 bytes hold all but the labels. */
export const RUNC_STATE_BEGINNING_BYTES = 512;

/** Of the whole file, or of its first 512 bytes. Null when it is neither, as for another runtime's. */
export function parseRuncState(text: string): RuncState | null {
  const state = parseObject(text);
  if (state === null) return parseBeginning(text);
  const id = stringAt(state, 'id');
  // youki's state.json has an id as well, and nothing else of this.
  if (id === null || digitsAt(state, 'init_process_pid') === null) return null;
  const labels = new Map<string, string>();
  for (const label of stringsAt(objectAt(state, 'config'), 'labels')) {
    const equals = label.indexOf('=');
    if (equals > 0) labels.set(label.slice(0, equals), label.slice(equals + 1));
  }
  return {
    id,
    initPid: pidAt(state, 'init_process_pid'),
    initStartTicks: digitsAt(state, 'init_process_start'),
    created: stringAt(state, 'created'),
    labels,
  };
}

function parseBeginning(text: string): RuncState | null {
  const match = BEGINNING.exec(text);
  if (match === null) return null;
  const [, id = '', pid, initStartTicks = null, created = null] = match;
  return { id, initPid: Number(pid) || null, initStartTicks, created, labels: new Map() };
}
