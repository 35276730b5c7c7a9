import type { Evidence } from '../../bundle/evidence.ts';
import type { Capture } from '../collector.ts';
import { evidenceOf, isMissing } from '../evidence-of.ts';
import { descriptorsOf } from '../signal/descriptors.ts';
import { findSink } from '../signal/find-sink.ts';
import { firstThat, readLogFile } from './file-log.ts';
import { journalMatches, readJournal } from './journal.ts';
import { inTurn } from './log-turn.ts';
import { linesOf } from './window.ts';

/** A daemon whose log is wanted. */
export interface LoggedDaemon {
  /** 'containerd', for messages and for the program column of syslog. */
  readonly name: string;
  readonly pid: number;
  /** containerd's persistent directory, where k3s keeps its log. */
  readonly root: string | null;
  /** Where this daemon's distribution keeps its log when neither journal nor an open file leads to it. */
  readonly places: readonly string[];
}

const SYSLOGS = ['/var/log/messages', '/var/log/syslog'];
const DESCRIPTORS_MS = 1000;

/**
 * The log of a daemon as one entry of the bundle, from wherever its standard error leads: the journal, a file, a program
 * that keeps a file for it; else from the usual places, else from syslog.
 */
export function logOf(capture: Capture, path: string, daemon: LoggedDaemon): AsyncGenerator<Evidence, void> {
  return inTurn(capture, async () => {
    const [descriptors] = await descriptorsOf(capture.host, [daemon.pid], DESCRIPTORS_MS);
    const sink = await findSink(capture.host, daemon, 2, descriptors ?? []);
    if (sink.kind === 'file')
      return once(capture, path, sink.prefix + sink.path, () => file(capture, path, sink.prefix + sink.path));
    if (sink.kind === 'journal') {
      const matches = await journalMatches(capture, sink.pid);
      const entry = await once(capture, path, `journalctl ${matches.join(' ')}`, () =>
        journal(capture, path, sink.root, matches),
      );
      if (entry.outcome !== 'absent') return entry;
    }
    return elsewhere(capture, path, daemon, sink.words);
  });
}

async function file(capture: Capture, path: string, source: string): Promise<Evidence> {
  return evidenceOf(path, await readLogFile(capture, source));
}

async function journal(capture: Capture, path: string, root: string, matches: readonly string[]): Promise<Evidence> {
  const result = await readJournal(capture, root, matches);
  const { offsetMs, durationMs, detail, stdout, stderr } = result;
  const says = [detail, stderr.toString('utf8').trim().split('\n')[0]].filter(Boolean).join(': ');
  return {
    path,
    source: result.argv.join(' '),
    outcome: result.outcome === 'ok' && stdout.length === 0 ? 'empty' : result.outcome,
    body: stdout,
    at: { offsetMs, durationMs },
    ...(result.outcome === 'ok' ? {} : { detail: says }),
  };
}

async function elsewhere(capture: Capture, path: string, daemon: LoggedDaemon, words: string): Promise<Evidence> {
  const place = await firstThat(capture, daemon.places);
  if (place !== null) return once(capture, path, place, () => file(capture, path, place));
  const syslog = await firstThat(capture, SYSLOGS);
  if (syslog !== null) {
    const read = await readLogFile(capture, syslog);
    const own = linesOf(read.body, daemon.name);
    const without = read.body.length > 0 || read.outcome === 'empty' || isMissing(read);
    if (own.length > 0 || !without)
      return { ...evidenceOf(path, { ...read, body: own }), source: `${syslog}, lines of ${daemon.name}` };
  }
  const nowhere = `${words}; not in the usual places or in syslog either`;
  return {
    path,
    source: `log of ${daemon.name} ${daemon.pid}`,
    outcome: 'absent',
    body: Buffer.alloc(0),
    detail: nowhere,
  };
}

/** dockerd and the containerd that it started share one log, k3s' kubelet and its server another: it is taken once. */
async function once(capture: Capture, path: string, source: string, read: () => Promise<Evidence>): Promise<Evidence> {
  const note = `log from ${source}`;
  const before = capture.notes.get(note);
  if (typeof before === 'string') {
    return { path, source, outcome: 'absent', body: Buffer.alloc(0), detail: `the same log as ${before}` };
  }
  capture.notes.set(note, path);
  return read();
}
