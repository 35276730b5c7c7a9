/**
 * Records of /dev/kmsg: kernel Documentation/ABI/testing/dev-kmsg. `prio,seq,usec,flags;text`, then lines ` KEY=value` that say
 * which device it is about. The host hands over records as lines, one after the other.
 */
export interface KmsgRecord {
  /** 0 emergency … 7 debug. */
  readonly severity: number;
  /** 0 for the kernel itself; programs that write to /dev/kmsg have others. */
  readonly facility: number;
  readonly sequence: number;
  /** Microseconds of the monotonic clock, from boot. */
  readonly usec: number;
  /** `T58` a task, `C0` a CPU, where the kernel is built with CONFIG_PRINTK_CALLER. */
  readonly caller: string | null;
  /** Escapes undone: the kernel writes what is not printable ASCII, and the backslash, as `\xNN`. */
  readonly text: string;
  /** `SUBSYSTEM`, `DEVICE`. */
  readonly fields: ReadonlyMap<string, string>;
  /** Line in the text, from 1. */
  readonly line: number;
}

export interface Kmsg {
  readonly records: readonly KmsgRecord[];
  /** Lines that are neither, as they stand. */
  readonly unknown: readonly string[];
}

const HEAD = /^(\d{1,10}),(\d{1,20}),(\d{1,20}),([^;]{0,200});/;

function unescapeBytes(text: string): string {
  // Whole runs at a time, for a character of UTF-8 is several bytes.
  return text.replace(/(?:\\x[0-9a-f]{2})+/g, run => Buffer.from(run.replaceAll('\\x', ''), 'hex').toString('utf8'));
}

export function parseKmsg(text: string): Kmsg {
  const records: KmsgRecord[] = [];
  const unknown: string[] = [];
  let fields = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [head, priority, sequence, usec, flags = ''] = HEAD.exec(line) ?? [];
    if (head !== undefined) {
      fields = new Map();
      records.push({
        severity: Number(priority) & 7,
        facility: Number(priority) >> 3,
        sequence: Number(sequence),
        usec: Number(usec),
        caller: /caller=([TC]\d+)/.exec(flags)?.[1] ?? null,
        text: unescapeBytes(line.slice(head.length)),
        fields,
        line: index + 1,
      });
      continue;
    }
    const equals = line.indexOf('=');
    if (line.startsWith(' ') && equals > 1 && records.length > 0) {
      fields.set(line.slice(1, equals), unescapeBytes(line.slice(equals + 1)));
    } else if (line !== '') {
      unknown.push(line);
    }
  }
  return { records, unknown };
}
