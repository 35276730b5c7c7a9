import type { Evidence } from '../bundle/evidence.ts';
import type { Deadline, FileResult } from '../host/port.ts';
import type { Capture } from './collector.ts';

/** What is left after a risky read ends, to yield what it brought. */
const YIELD_MS = 100;

/** All of the collector's time but the moment that it takes to yield the result; `capMs` shortens it. */
export function deadlineOf(capture: Capture, capMs = Number.POSITIVE_INFINITY): Deadline {
  const leftMs = Math.max(1, capture.remainingMs() - YIELD_MS);
  return { deadlineMs: Math.min(leftMs, capMs * capture.patience), signal: capture.signal };
}

/** What one of a collector's questions may take: `usualMs`, more in a run of more time, never more than is left. */
export function timeFor(capture: Pick<Capture, 'patience' | 'remainingMs'>, usualMs: number): number {
  return Math.max(1, Math.min(usualMs * capture.patience, capture.remainingMs()));
}

/**
 * A file as it was read, as one entry of the bundle.
 *
 * @param absentBecause where a missing file is normal: what it means that it is not there. The entry is then `absent`
 *   and does not make the bundle incomplete.
 */
export function evidenceOf(path: string, file: FileResult, absentBecause?: string): Evidence {
  const at = { offsetMs: file.offsetMs, durationMs: file.durationMs };
  const entry = { path, source: file.path, body: file.body, at };
  if (absentBecause !== undefined && isMissing(file)) return { ...entry, outcome: 'absent', detail: absentBecause };
  return { ...entry, outcome: file.outcome, ...(file.detail === undefined ? {} : { detail: file.detail }) };
}

/** It is not there, whether it was expected or not. */
export function isMissing(file: Pick<FileResult, 'outcome'>): boolean {
  return file.outcome === 'gone' || file.outcome === 'absent';
}

/** From the first read's start to the last one's end. */
export function spanOf(files: readonly Pick<FileResult, 'offsetMs' | 'durationMs'>[]): NonNullable<Evidence['at']> {
  if (files.length === 0) return { offsetMs: 0, durationMs: 0 };
  const start = Math.min(...files.map(file => file.offsetMs));
  const end = Math.max(...files.map(file => file.offsetMs + file.durationMs));
  return { offsetMs: start, durationMs: end - start };
}

/** Lines of a directory listing that a probe made; a trailing `/` marks a directory. */
export function namesIn(listing: FileResult): readonly string[] {
  return listing.body.toString('utf8').split('\n').filter(Boolean);
}

/** A name that somebody else chose (a container, a log file, an exec id), as one part of a path in the bundle. */
export function entryPart(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 100);
  return /^\.*$/.test(plain) ? '_' : plain;
}
