/**
 * `journalctl -o json --all`: one JSON object per entry. journald cuts what a program writes to its stdout into entries, at
 * line ends and, in a longer line, after LineMax bytes (48 KiB): such an entry has `_LINE_BREAK=line-max`, and the line goes on in
 * the next entry of the same stream (systemd src/journal/journald-stream.c; systemd.journal-fields(7)).
 */
import { journalText, jsonObject } from './json-line.ts';

export interface JournalEntry {
  /** Microseconds since 1970 of the first piece; null where the entry does not say. */
  readonly realtimeUs: number | null;
  readonly host: string | null;
  /** SYSLOG_IDENTIFIER, else _COMM. */
  readonly program: string | null;
  readonly pid: number | null;
  readonly unit: string | null;
  /** Whole, all pieces joined; null where journalctl left it out (a field over 4 kB without --all). */
  readonly message: string | null;
  /** Not whole: its last piece ends in the middle of a line, or a piece had no text. */
  readonly cut: boolean;
  /** Of how many entries it was joined. */
  readonly pieces: number;
  /** Null, but in journald's own word that its rate limit has kept entries of somebody out. */
  readonly dropped: Dropped | null;
  /** Line of the first piece in the text, from 1. */
  readonly line: number;
}

/**
 * `Suppressed 812 messages from containerd.service` (systemd sd-messages.h, SD_MESSAGE_JOURNAL_DROPPED). journald writes it with the
 * first message that it takes again, when the interval is over: 30 s after it began to drop, unless configured otherwise.
 */
export interface Dropped {
  /** Who wrote the message before which it stands: one process of the unit that was limited. */
  readonly pid: number | null;
  readonly messages: number;
}

export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** Lines that are no entries (`-- No entries --`, a line cut by a cap), as they stand. */
  readonly unknown: readonly string[];
}

export const DROPPED_MESSAGE_ID = 'a596d6fe7bfa4994828e72309e95d61e';

interface Piece {
  readonly entry: Omit<JournalEntry, 'message' | 'cut' | 'pieces'>;
  readonly stream: string;
  /** Bytes, since a cut may go through a character. */
  readonly bytes: Buffer | null;
  readonly goesOn: boolean;
}

const wholeNumber = (value: unknown) => (typeof value === 'string' && /^\d{1,17}$/.test(value) ? Number(value) : null);

/** MESSAGE as bytes: text, an array of byte numbers when it is not UTF-8 (a cut character), or null. */
function messageBytes(value: unknown): Buffer | null {
  if (Array.isArray(value) && value.every(byte => typeof byte === 'number')) return Buffer.from(value);
  const text = journalText(value);
  return text === null ? null : Buffer.from(text);
}

function droppedBy(object: Readonly<Record<string, unknown>>): Dropped | null {
  if (journalText(object['MESSAGE_ID']) !== DROPPED_MESSAGE_ID) return null;
  const inWords = /^Suppressed (\d+) messages/.exec(journalText(object['MESSAGE']) ?? '')?.[1];
  const messages = wholeNumber(object['N_DROPPED']) ?? wholeNumber(inWords) ?? 0;
  return { pid: wholeNumber(object['OBJECT_PID']), messages };
}

function pieceOf(text: string, line: number): Piece | null {
  const object = jsonObject(text);
  if (object === null || !('MESSAGE' in object)) return null;
  const pid = wholeNumber(object['_PID']);
  const program = journalText(object['SYSLOG_IDENTIFIER']) ?? journalText(object['_COMM']);
  return {
    entry: {
      realtimeUs: wholeNumber(object['__REALTIME_TIMESTAMP']),
      host: journalText(object['_HOSTNAME']),
      program,
      pid,
      unit: journalText(object['_SYSTEMD_UNIT']),
      dropped: droppedBy(object),
      line,
    },
    // _STREAM_ID names the connection; without it (an export that dropped it) program and pid are the next best.
    stream: journalText(object['_STREAM_ID']) ?? `${program}[${pid}]`,
    bytes: messageBytes(object['MESSAGE']),
    goesOn: journalText(object['_LINE_BREAK']) === 'line-max',
  };
}

/**
 * All entries, those that were cut re-joined, in the order of their first pieces. Pieces of other streams may lie between. Nothing is
 * joined past a place where journald has dropped something of the same process.
 */
export function parseJournalJson(text: string): Journal {
  const unknown: string[] = [];
  const rows: { entry: Piece['entry']; parts: (Buffer | null)[]; open: boolean }[] = [];
  const openRows = new Map<string, (typeof rows)[number]>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const piece = pieceOf(line, index + 1);
    if (piece === null) {
      unknown.push(line);
      continue;
    }
    // What it was about to go on with is lost: the next line of that process is another one.
    const loser = piece.entry.dropped?.pid ?? null;
    for (const [stream, row] of openRows) if (loser !== null && row.entry.pid === loser) openRows.delete(stream);
    const begun = openRows.get(piece.stream);
    const row = begun ?? { entry: piece.entry, parts: [], open: false };
    if (begun === undefined) rows.push(row);
    row.parts.push(piece.bytes);
    row.open = piece.goesOn;
    if (piece.goesOn) openRows.set(piece.stream, row);
    else openRows.delete(piece.stream);
  }
  return {
    entries: rows.map(({ entry, parts, open }) => {
      const known = parts.filter(part => part !== null);
      return {
        ...entry,
        message: known.length === 0 ? null : Buffer.concat(known).toString('utf8'),
        cut: open || known.length < parts.length,
        pieces: parts.length,
      };
    }),
    unknown,
  };
}
