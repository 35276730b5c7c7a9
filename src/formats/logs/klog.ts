/** klog, the format of kubelet and its kin: k8s.io/klog/v2 klog.go formatHeader. No year, no zone, microseconds. */
import { closingQuote, unquoteGo } from '../go-quote.ts';
import { type Layer, levelOf } from './log-line.ts';
import { type LogContext, timeWithoutYear } from './timestamp.ts';

const HEADER = /^([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{6}) +(\d+) ([^\s:\]]{1,200}):(\d+)\] ?/;
const KEY = / ([A-Za-z_][\w.\-/]{0,63})=/y;

/** `"Message" key="value" key2=word`: structured since klog 2 (kubelet 1.19); null for the older free text. */
function structured(text: string): { message: string; fields: ReadonlyMap<string, string> } | null {
  if (!text.startsWith('"')) return null;
  let end = closingQuote(text, 1);
  if (end < 0) return null;
  const message = unquoteGo(text.slice(1, end));
  if (message === null) return null;
  const fields = new Map<string, string>();
  for (end += 1; ; ) {
    KEY.lastIndex = end;
    const key = KEY.exec(text);
    if (key?.[1] === undefined) break;
    const from = end + key[0].length;
    const closing = text[from] === '"' ? closingQuote(text, from + 1) : -1;
    const blank = text.indexOf(' ', from);
    if (closing >= 0) {
      const inner = text.slice(from + 1, closing);
      fields.set(key[1], unquoteGo(inner) ?? inner);
      end = closing + 1;
    } else {
      // Lists and structs may hold blanks: `pods=["a/b" "c/d"]`. The value ends where the next key starts.
      end = blank < 0 ? text.length : nextKey(text, blank);
      fields.set(key[1], text.slice(from, end));
    }
  }
  if (end < text.length) fields.set('', text.slice(end).trim());
  return { message, fields };
}

function nextKey(text: string, from: number): number {
  for (let blank = from; blank >= 0; blank = text.indexOf(' ', blank + 1)) {
    KEY.lastIndex = blank;
    if (KEY.test(text)) return blank;
  }
  return text.length;
}

/** Fields `source` (`remote_runtime.go:269`) and `threadId` beside those of the line; `pid` is null, for klog's number is a thread or pid. */
export function parseKlog(line: string, context: LogContext): Layer | null {
  const [head, level = '', month, day, clock = '', thread = '', file, row] = HEADER.exec(line) ?? [];
  if (head === undefined) return null;
  const text = line.slice(head.length);
  const parts = structured(text) ?? { message: text, fields: new Map<string, string>() };
  return {
    format: 'klog',
    time: timeWithoutYear(Number(month) - 1, Number(day), clock, context),
    level: levelOf(level),
    message: parts.message,
    fields: new Map([...parts.fields, ['source', `${file}:${row}`], ['threadId', thread]]),
  };
}
