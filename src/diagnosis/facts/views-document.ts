import { parseViews, type ShimView, VIEWS_PATH, type ViewsDocument } from '../../formats/views/document.ts';
import { type View as SaidView, SOURCES } from '../../formats/views/view.ts';
import { type Citation, cite } from '../citation.ts';
import type { ShimAnswer, ShimFacts, View } from '../facts.ts';
import type { Entries } from './entries.ts';

/** runtime/views.json, with the line of each view in it. Null where there is none, and in bundles of before it. */
export interface Said {
  /** All that was said of a container, /proc first; of one source in the order in which it was said. Null when it is not among them. */
  views(id: string): readonly View[] | null;
  /** The shim's own answer to State. */
  shimAnswer(id: string): ShimAnswer | null;
  /** A shim's answer to Connect. */
  connect(pid: number): ShimFacts['connect'];
}

/** What was said, out of runtime/views.json. Null for a bundle without it. */
export function saidIn(entries: Entries): Said | null {
  const text = entries.text(VIEWS_PATH);
  const document = text === null ? null : parseViews(text);
  if (text === null || document === null) return null;
  const lines = text.split('\n');
  const citeOf = (said: SaidView | ShimView): Citation => {
    const line = JSON.stringify(said);
    const index = lines.findIndex(candidate => candidate.startsWith(line));
    return cite(VIEWS_PATH, index < 0 ? null : index + 1, line);
  };
  const ofContainer = (id: string) => document.containers.find(container => container.id === id)?.views ?? null;
  return {
    views: id =>
      ofContainer(id)
        ?.toSorted((a, b) => SOURCES.indexOf(a.source) - SOURCES.indexOf(b.source))
        .map(view => viewOf(view, citeOf(view))) ?? null,
    shimAnswer(id) {
      const said = ofContainer(id)?.findLast(({ source }) => source === 'shim');
      return said === undefined ? null : answerOf(said, citeOf(said));
    },
    connect: pid => connectOf(document, pid, citeOf),
  };
}

function viewOf({ source, says, word, at, tookMs }: SaidView, citation: Citation): View {
  return { source, says, word, at: timeOf(at), tookMs, cite: citation };
}

const STATES: ReadonlySet<string> = new Set(['UNKNOWN', 'CREATED', 'RUNNING', 'STOPPED', 'PAUSED', 'PAUSING']);

function answerOf({ word, pid, since, tookMs }: SaidView, citation: Citation): ShimAnswer {
  const state = STATES.has(word) ? (word as ShimAnswer['status']) : word === 'no answer' ? 'timeout' : 'error';
  // Of a task that has not ended the shim gives no time.
  const exitedAt = state === 'STOPPED' && since !== null ? timeOf(since) : null;
  return { status: state, pid, exitStatus: null, exitedAt, tookMs: tookMs ?? 0, cite: citation };
}

/** Refused, gone or never asked says nothing about whether it would answer: only an answer and a timeout do. */
function connectOf({ shims }: ViewsDocument, pid: number, citeOf: (said: ShimView) => Citation): ShimFacts['connect'] {
  const said = shims.find(shim => shim.pid === pid);
  if (said === undefined || (said.outcome !== 'ok' && said.outcome !== 'timeout')) return null;
  return { answered: said.outcome === 'ok', tookMs: said.latencyMs, cite: citeOf(said) };
}

function timeOf(iso: string): number | null {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? null : ms;
}
