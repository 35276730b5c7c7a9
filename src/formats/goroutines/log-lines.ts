import { parseJournalJson } from '../logs/journal-json.ts';
import { parseJsonLine } from '../logs/json-line.ts';
import { parseSyslog } from '../logs/syslog.ts';
import { type DumpLine, NO_CONTEXT } from './dump-line.ts';
import { isSupervised, unsupervised } from './k0s-lines.ts';

function lineOf(raw: string, number: number): DumpLine {
  const place = { number, end: number };
  const json = parseJsonLine(raw, NO_CONTEXT);
  if (json?.format === 'docker-json') {
    // docker cuts lines after 16 KiB; the pieces follow each other in their stream.
    return { content: json.message, origin: `docker ${json.fields?.get('stream')}`, layer: null, ...place };
  }
  if (json !== null) return { content: json.message, origin: '', layer: json, ...place };
  const envelope = parseSyslog(raw, NO_CONTEXT);
  if (envelope === null) return { content: raw, origin: '', layer: null, ...place };
  return { content: envelope.message, origin: `${envelope.program}[${envelope.pid}]`, layer: null, ...place };
}

/** Lines of a log file or of `journalctl`, in any of its forms; entries of `-o json`, and what k0s has cut, are joined first. */
export function linesOfLog(text: string): readonly DumpLine[] {
  const lines = entriesOf(text);
  return lines.some(({ content }) => isSupervised(content)) ? unsupervised(lines) : lines;
}

function entriesOf(text: string): readonly DumpLine[] {
  if (text.startsWith('{') && /^\{[^\n]*"MESSAGE":/.test(text)) {
    return parseJournalJson(text).entries.map(({ message, program, pid, line }) => ({
      content: message ?? '',
      origin: `${program}[${pid}]`,
      layer: null,
      number: line,
      end: line,
    }));
  }
  return text.split('\n').map((raw, index) => lineOf(raw.endsWith('\r') ? raw.slice(0, -1) : raw, index + 1));
}
