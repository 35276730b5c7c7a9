import { parseJournalJson } from '../../formats/logs/journal-json.ts';
import type { Host, Moment } from '../../host/port.ts';
import type { JournalSink } from './sink.ts';
import type { SinkText } from './sink-text.ts';

/** A dump of thousands of goroutines is some MB, JSON escapes it once more; a daemon on debug level writes beside it. */
const MAX_BYTES = 32 << 20;
/** Receipt by journald is later than the signal, never earlier; the clocks' rounding is a ms. */
const EARLIER_MS = 1000;
/** SD_MESSAGE_JOURNAL_DROPPED of systemd's sd-messages.h: 'Suppressed 812 messages from containerd.service'. */
const DROPPED_MESSAGE_ID = 'a596d6fe7bfa4994828e72309e95d61e';

/** What containerd wrote to the journal since the signal, in a probe: journalctl hangs where its files lie on a stalled disk. */
export async function readJournal(
  host: Pick<Host, 'run'>,
  sink: JournalSink,
  since: Moment,
  timeoutMs: number,
): Promise<SinkText> {
  const seconds = (Date.parse(since.wall) - EARLIER_MS) / 1000;
  const argv = [
    'journalctl',
    '--all',
    '--quiet',
    '--no-pager',
    '--output=json',
    `--since=@${seconds.toFixed(3)}`,
    `_PID=${sink.pid}`,
    '+',
    `MESSAGE_ID=${DROPPED_MESSAGE_ID}`,
  ];
  const result = await host.run({ argv, timeoutMs, maxBytes: MAX_BYTES });
  const { entries } = parseJournalJson(result.stdout.toString());
  const own = entries.filter(({ pid }) => pid === sink.pid);
  const dropped = entries.filter(({ message }) => /^Suppressed \d+ messages/.test(message ?? ''));
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
