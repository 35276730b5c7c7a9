import { parseJsonLine } from './json-line.ts';
import { parseKernelLine } from './kernel-line.ts';
import { parseKlog } from './klog.ts';
import type { Layer, LogLine } from './log-line.ts';
import { parseLogrusText, parseLogrusTty } from './logrus.ts';
import { parseSyslog } from './syslog.ts';
import type { LogContext } from './timestamp.ts';

function withoutLineEnd(line: string): string {
  let end = line.length;
  if (line[end - 1] === '\n') end -= 1;
  if (line[end - 1] === '\r') end -= 1;
  return line.slice(0, end);
}

/** Most telling first: a line of one form must not look like one of a form that stands before it. */
const FORMS: readonly ((line: string, context: LogContext) => Layer | null)[] = [
  parseJsonLine,
  parseLogrusText,
  parseLogrusTty,
  parseKlog,
  parseKernelLine,
  parseSyslog,
  hostBeforeJson,
];

/** talosctl puts the node's name before each line: `10.5.0.2: {"error":…}`. */
function hostBeforeJson(line: string, context: LogContext): Layer | null {
  const [head, host] = /^([^\s{}:]{1,253}(?::[0-9a-f:]{1,40})?): (?=\{)/.exec(line) ?? [];
  if (head === undefined || host === undefined) return null;
  const inner = parseJsonLine(line.slice(head.length), context);
  return inner === null ? null : { ...inner, host };
}

/** Envelopes in envelopes: docker's JSON around a journal line around klog is the most that was seen. */
const MAX_LAYERS = 4;

const QUARTER_HOUR_MS = 900_000;

/**
 * klog says neither year nor zone, an envelope with an absolute time says both, a little late: the zone (a whole number of
 * quarters of an hour) that brings the two together, when one does to a minute. Else the envelope's time stands.
 */
function klogTime(inner: number, envelope: number): number {
  const shifted = inner + Math.round((envelope - inner) / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
  return Math.abs(shifted - envelope) <= 60_000 ? shifted : envelope;
}

/** What an application or the kernel says is its message, whatever that looks like. */
const INNERMOST: ReadonlySet<LogLine['format']> = new Set(['logrus', 'logrus-tty', 'klog', 'json', 'kernel']);

/** Envelopes whose time has a year and a zone. */
const ABSOLUTE: ReadonlySet<LogLine['format']> = new Set(['docker-json', 'journal', 'json']);

/**
 * One line of any log (field's forms: containerd, its shims, kubelet, docker, the kernel, each bare or in a journal, syslog
 * or docker envelope). The innermost form gives level and message; fields of all layers are kept, inner ones first. A line in
 * no known form comes back whole, as `unknown`. Linear in its length.
 */
export function parseLogLine(line: string, context: LogContext): LogLine {
  const raw = withoutLineEnd(line);
  const fields = new Map<string, string>();
  let so: LogLine = {
    time: null,
    format: 'unknown',
    host: null,
    program: null,
    pid: null,
    level: null,
    message: raw,
    fields,
    raw,
  };
  for (let depth = 0; depth < MAX_LAYERS; depth += 1) {
    const layer = firstLayer(so.message, context);
    if (layer === null) break;
    for (const [key, value] of layer.fields ?? []) fields.set(key, value);
    const outerIsAbsolute = so.time !== null && ABSOLUTE.has(so.format);
    const inner = layer.time ?? null;
    const time =
      inner === null || so.time === null
        ? (inner ?? so.time)
        : layer.format === 'klog' && outerIsAbsolute
          ? klogTime(inner, so.time)
          : inner;
    so = {
      time,
      format: layer.format,
      host: layer.host ?? so.host,
      program: layer.program ?? so.program,
      pid: layer.pid ?? so.pid,
      level: layer.level ?? so.level,
      message: layer.message,
      fields,
      raw,
    };
    if (INNERMOST.has(layer.format)) break;
  }
  return so;
}

function firstLayer(text: string, context: LogContext): Layer | null {
  for (const form of FORMS) {
    const layer = form(text, context);
    if (layer !== null) return layer;
  }
  return null;
}
