/** /proc/<pid>/status: proc_pid_status(5), kernel fs/proc/array.c proc_pid_status. */
export interface Status {
  /** Unescaped: the kernel writes a line end in a name as `\n` and a backslash as `\\`. */
  readonly name: string | null;
  /** The letter of `S (sleeping)`. */
  readonly state: string | null;
  readonly tgid: number | null;
  readonly pid: number | null;
  readonly ppid: number | null;
  readonly tracerPid: number | null;
  /** Real, effective, saved, filesystem. */
  readonly uid: readonly number[];
  readonly gid: readonly number[];
  /** 0 for a zombie leader, 1 also for a process held inside execve, whose other files may hang. */
  readonly threads: number | null;
  /** pid in each pid namespace, the reader's first (since 4.1). */
  readonly nsPid: readonly number[];
  readonly vmRssBytes: number | null;
  readonly signals: Readonly<Record<'pending' | 'shared' | 'blocked' | 'ignored' | 'caught', bigint | null>>;
  readonly voluntarySwitches: number | null;
  readonly nonvoluntarySwitches: number | null;
  /** Every line, key to text, those above included. The first of two equal keys counts. */
  readonly fields: ReadonlyMap<string, string>;
}

/** kill -l: the same on x86 and arm. */
export const SIGUSR1 = 10;

function numbers(text: string | undefined): readonly number[] {
  return (text ?? '')
    .split(/\s+/)
    .filter(word => /^-?\d+$/.test(word))
    .map(Number);
}

function mask(text: string | undefined): bigint | null {
  return text !== undefined && /^[0-9a-fA-F]{1,32}$/.test(text) ? BigInt(`0x${text}`) : null;
}

/** Never throws; what is missing is null or empty. */
export function parseStatus(text: string): Status {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    const key = line.slice(0, colon);
    // Only the one tab after the colon goes: a name may begin or end with blanks.
    if (colon > 0 && !fields.has(key)) fields.set(key, line.slice(colon + 1).replace(/^\t/, ''));
  }
  const words = (key: string) => fields.get(key)?.trim();
  const first = (key: string) => numbers(words(key))[0] ?? null;
  const rss = first('VmRSS');
  return {
    name: fields.get('Name')?.replace(/\\(n|\\)/g, (_, mark) => (mark === 'n' ? '\n' : '\\')) ?? null,
    state: words('State')?.[0] ?? null,
    tgid: first('Tgid'),
    pid: first('Pid'),
    ppid: first('PPid'),
    tracerPid: first('TracerPid'),
    uid: numbers(words('Uid')),
    gid: numbers(words('Gid')),
    threads: first('Threads'),
    nsPid: numbers(words('NSpid')),
    vmRssBytes: rss === null ? null : rss * 1024,
    signals: {
      pending: mask(words('SigPnd')),
      shared: mask(words('ShdPnd')),
      blocked: mask(words('SigBlk')),
      ignored: mask(words('SigIgn')),
      caught: mask(words('SigCgt')),
    },
    voluntarySwitches: first('voluntary_ctxt_switches'),
    nonvoluntarySwitches: first('nonvoluntary_ctxt_switches'),
    fields,
  };
}

/**
 * Whether the process has a handler for a signal: bit `signal - 1` of SigCgt (10, SIGUSR1: mask 0x200). Go sets all;
 * without it SIGUSR1 kills (Rust shims, C programs). Null when the mask could not be read: then nothing may be sent.
 */
export function catches(status: Status, signal: number): boolean | null {
  const { caught } = status.signals;
  return caught === null ? null : ((caught >> BigInt(signal - 1)) & 1n) === 1n;
}
