/** One line of a log, whatever wrote it. */
export interface LogLine {
  /** ms since 1970, with a fraction where the log has one; null where neither the line nor the context tells. */
  readonly time: number | null;
  /** The innermost form that was understood; `unknown` keeps all of the line in `message`. */
  readonly format: LogFormat;
  /** From the envelope (journal, syslog, docker): null where there is none. */
  readonly host: string | null;
  /** `containerd`, `kubelet`, `kernel`. */
  readonly program: string | null;
  readonly pid: number | null;
  readonly level: LogLevel | null;
  readonly message: string;
  readonly fields: ReadonlyMap<string, string>;
  readonly raw: string;
}

export type LogFormat =
  | 'logrus'
  | 'logrus-tty'
  | 'json'
  | 'klog'
  | 'kernel'
  | 'journal'
  | 'syslog'
  | 'docker-json'
  | 'unknown';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warning' | 'error' | 'fatal' | 'panic';

/** What one layer of a line tells; an envelope leaves its content in `message`. */
export type Layer = Partial<Omit<LogLine, 'raw' | 'message' | 'format'>> & Pick<LogLine, 'message' | 'format'>;

const LEVELS: Readonly<Record<string, LogLevel>> = {
  trac: 'trace',
  debu: 'debug',
  dbg: 'debug',
  info: 'info',
  noti: 'info',
  warn: 'warning',
  erro: 'error',
  err: 'error',
  fata: 'fatal',
  crit: 'fatal',
  aler: 'fatal',
  dpan: 'panic',
  pani: 'panic',
  emer: 'panic',
  i: 'info',
  w: 'warning',
  e: 'error',
  f: 'fatal',
};

/** Any spelling: `level=warning`, `WARN`, `E` of klog, `err:` of syslog. Null for what is no level. */
export function levelOf(word: string): LogLevel | null {
  return LEVELS[word.slice(0, 4).toLowerCase()] ?? null;
}

/** Severity of syslog, journald and the kernel: 0 emergency … 7 debug (RFC 5424). */
export function levelOfSeverity(severity: number): LogLevel | null {
  const levels: readonly LogLevel[] = ['panic', 'fatal', 'fatal', 'error', 'warning', 'info', 'info', 'debug'];
  return levels[severity] ?? null;
}
