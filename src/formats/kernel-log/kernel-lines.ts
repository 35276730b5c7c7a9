import { parseLogLine } from '../logs/parse-log-line.ts';
import type { LogContext } from '../logs/timestamp.ts';
import { parseKmsg } from '../proc/kmsg.ts';

/** One message of the kernel, without any prefix. */
export interface KernelLine {
  readonly text: string;
  /** ms since 1970; null where neither the line nor the context tells. */
  readonly time: number | null;
  /** Seconds since boot, on the kernel's own clock. */
  readonly monotonic: number | null;
  /** `T58`: who printed it, so that what two CPUs print at once can be told apart. Null on most kernels. */
  readonly caller: string | null;
  /** Line in the log, from 1. */
  readonly line: number;
}

const isKmsg = (log: string) => /^\d{1,10},\d{1,20},\d{1,20},[^;\n]{0,200};/.test(log);

/**
 * The kernel's messages out of any log: records of /dev/kmsg, dmesg, pstore, syslog, journal. Lines of other programs are left out,
 * lines in no known form are taken as they stand.
 */
export function kernelLines(log: string, context: LogContext): readonly KernelLine[] {
  if (isKmsg(log)) {
    const { bootedAt } = context;
    return parseKmsg(log).records.map(({ text, usec, caller, line }) => ({
      text,
      time: bootedAt === undefined ? null : bootedAt + usec / 1000,
      monotonic: usec / 1e6,
      caller,
      line,
    }));
  }
  const lines: KernelLine[] = [];
  for (const [index, raw] of log.split('\n').entries()) {
    const { message, time, program, format, fields } = parseLogLine(raw, context);
    if (raw === '' || (program !== 'kernel' && format !== 'unknown')) continue;
    const monotonic = fields.get('monotonic');
    lines.push({
      text: message,
      time,
      monotonic: monotonic === undefined ? null : Number(monotonic),
      caller: fields.get('caller') ?? null,
      line: index + 1,
    });
  }
  return lines;
}
