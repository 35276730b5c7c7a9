import { DROPPED_MESSAGE_ID, type JournalEntry, parseJournalJson } from '../../formats/logs/journal-json.ts';
import { journalText, jsonObject } from '../../formats/logs/json-line.ts';
import type { Host, Moment } from '../../host/port.ts';
import type { JournalSink } from './sink.ts';
import type { SinkText } from './sink-text.ts';

/** A dump of thousands of goroutines is some MB, JSON escapes it once more; a daemon on debug level writes beside it. */
const MAX_BYTES = 32 << 20;
/** Receipt by journald is later than the signal, never earlier; the clocks' rounding is a ms. */
const EARLIER_MS = 1000;
/** journald says that it has dropped something when an interval of its limit is over, 30 s by default: two of them. */
const LIMITED_BEFORE_MS = 60_000;

/** What containerd wrote to the journal since the signal, in a probe: journalctl hangs where its files lie on a stalled disk. */
export async function readJournal(
  host: Pick<Host, 'run'>,
  sink: JournalSink,
  since: Moment,
  timeoutMs: number,
): Promise<SinkText> {
  // Not --after-cursor: with matches it passes over the first of them (systemd 252), the beginning of the dump.
  const from = sink.cursor === undefined ? sinceOption(since, EARLIER_MS) : `--cursor=${sink.cursor}`;
  const argv = journalctl(sink, from, [`_PID=${sink.pid}`, '+', DROPPED]);
  const result = await host.run({ argv, timeoutMs, maxBytes: MAX_BYTES });
  const { entries } = parseJournalJson(result.stdout.toString());
  const own = entries.filter(({ pid }) => pid === sink.pid);
  // The limit is that of a unit: in containerd's there are shims, too, before whose messages journald may say so.
  const unit = own.find(entry => entry.unit !== null)?.unit ?? '';
  const dropped = entries.filter(
    entry => isDrop(entry) && (entry.dropped?.pid === sink.pid || entry.message?.endsWith(` from ${unit}`) === true),
  );
  const failed = result.outcome === 'ok' || result.outcome === 'empty' ? null : (result.detail ?? result.outcome);
  return {
    text: own.map(({ message }) => `${message ?? ''}\n`).join(''),
    source: argv.join(' '),
    failed: failed === null ? null : `${failed} ${result.stderr.toString().trim()}`.trim(),
    hung: result.outcome === 'timeout',
    rateLimited: dropped.length > 0,
    notes: dropped.map(({ message }) => `journald dropped messages: ${message}`),
  };
}

/**
 * Whether journald was keeping messages of containerd out just before the signal: in the same interval it keeps out the dump, too,
 * and says so only later. @returns its words, 'Suppressed 812 messages from containerd.service, 12 s before the signal'
 */
export async function limitedBefore(
  host: Pick<Host, 'run'>,
  sink: JournalSink,
  signal: Moment,
  timeoutMs: number,
): Promise<string | null> {
  const argv = journalctl(sink, sinceOption(signal, LIMITED_BEFORE_MS), [DROPPED, `OBJECT_PID=${sink.pid}`]);
  const { stdout } = await host.run({ argv, timeoutMs });
  const last = parseJournalJson(stdout.toString()).entries.findLast(isDrop);
  if (last?.realtimeUs == null) return null;
  const seconds = Math.round((Date.parse(signal.wall) - last.realtimeUs / 1000) / 1000);
  return `${last.message}, ${seconds} s before the signal`;
}

/**
 * Of the newest entry that there is; null where journalctl does not tell it in time, or the journal is empty. `absent`: there
 * is no journalctl.
 */
export async function newestCursor(
  host: Pick<Host, 'run'>,
  sink: JournalSink,
  timeoutMs: number,
): Promise<{ readonly cursor: string | null; readonly absent: boolean }> {
  const argv = journalctl(sink, '--lines=1', ['--output-fields=MESSAGE_ID']);
  const { stdout, outcome } = await host.run({ argv, timeoutMs });
  const entry = jsonObject(stdout.toString().trim());
  return { cursor: entry === null ? null : journalText(entry['__CURSOR']), absent: outcome === 'absent' };
}

function journalctl({ root }: JournalSink, from: string, rest: readonly string[]): readonly string[] {
  return ['journalctl', ...ofRoot(root), '--all', '--quiet', '--no-pager', '--output=json', from, ...rest];
}

/** Options of journalctl for the journal of a root that is not ours, whose machine id it could not know. */
export function ofRoot(root: string): readonly string[] {
  return root === '' ? [] : [`--root=${root}`];
}

const sinceOption = (moment: Moment, earlierMs: number): string =>
  `--since=@${((Date.parse(moment.wall) - earlierMs) / 1000).toFixed(3)}`;

/** A match of journalctl. */
const DROPPED = `MESSAGE_ID=${DROPPED_MESSAGE_ID}`;

const isDrop = ({ dropped }: JournalEntry): boolean => dropped !== null && dropped.messages > 0;
