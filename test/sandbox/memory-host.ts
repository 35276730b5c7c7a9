import type { Deadline, FileRequest, FileResult, Host, Outcome, ProcessLook } from '../../src/host/port.ts';

/** A process that is not there, as /proc shows one. */
export interface FakeProcess {
  readonly pid: number;
  readonly comm: string;
  readonly ppid?: number;
  readonly threads?: number;
  readonly state?: string;
  readonly startTicks?: string;
  readonly cwd?: string;
  readonly exe?: string;
  readonly stderr?: string;
  /** `null`: reading it hangs. */
  readonly argv?: readonly string[] | null;
  readonly mountNamespace?: string;
  /** In pid namespaces below ours, outermost first. */
  readonly innerPids?: readonly number[];
  readonly cgroup?: string;
  /** fd to target. */
  readonly fds?: Readonly<Record<string, string>>;
  readonly look?: ProcessLook;
}

/** Path to content; `link` to a target; an outcome in place of an answer. */
export type FakeFile =
  | string
  | Buffer
  | { readonly link: string }
  | { readonly outcome: Outcome; readonly detail?: string };

const OWN_NAMESPACE = 'mnt:[4026531841]';

/** Serves files and processes out of memory: for the logic that puts them together. What hangs and why is tried for real. */
export class MemoryHost {
  readonly files = new Map<string, FakeFile>();
  readonly #pids = new Set<number>();
  /** Requests of each readRisky so far. */
  readonly calls: (readonly FileRequest[])[] = [];
  readonly lookedAt: number[] = [];
  /** Processes of each lookRisky so far. */
  readonly lookCalls: (readonly number[])[] = [];
  readonly startedAt = '2026-11-29T12:00:00.000Z';
  readonly stuckProbes = [];
  wall = '2026-11-29T12:00:00.000Z';
  offsetMs = 0;
  /** Its clocks go on from there as ours do. */
  readonly #born = performance.now();
  readonly #looks = new Map<number, ProcessLook>();

  constructor() {
    this.files.set('/proc/self/ns/mnt', { link: OWN_NAMESPACE });
    this.files.set('/proc/self/status', 'Name:\tstallcap\nUid:\t0\t0\t0\t0\n');
    this.files.set('/proc/uptime', '1000.00 1.00\n');
    this.add({ pid: 1, comm: 'systemd', threads: 1, ppid: 0 });
  }

  /** Itself as the port; the rest of it is not for this code. */
  get host(): Host {
    return this as unknown as Host;
  }

  add(process: FakeProcess): this {
    const { pid, comm, ppid = 1, threads = 12, state = 'S', startTicks = String(pid * 10), fds = {} } = process;
    const file = (name: string, content: FakeFile) => this.files.set(`/proc/${pid}/${name}`, content);
    this.#pids.add(pid);
    file('comm', `${comm}\n`);
    const pids = [pid, ...(process.innerPids ?? [])].join('\t');
    file(
      'status',
      `Name:\t${comm}\nState:\t${state} (x)\nPid:\t${pid}\nPPid:\t${ppid}\nNSpid:\t${pids}\nThreads:\t${threads}\n`,
    );
    file('stat', `${pid} (${comm}) ${state} ${ppid} ${'0 '.repeat(15)}${threads} 0 ${startTicks} 0 0`);
    file('cgroup', process.cgroup ?? '0::/\n');
    file('cwd', { link: process.cwd ?? '/' });
    file('exe', { link: process.exe ?? `/usr/bin/${comm}` });
    file('ns/mnt', { link: process.mountNamespace ?? OWN_NAMESPACE });
    file(
      'cmdline',
      process.argv === null ? { outcome: 'timeout' } : (process.argv ?? [comm]).map(arg => `${arg}\0`).join(''),
    );
    const links = { 2: process.stderr ?? '/dev/null', ...fds };
    for (const [fd, target] of Object.entries(links)) file(`fd/${fd}`, { link: target });
    if (process.look !== undefined) this.#looks.set(pid, process.look);
    return this;
  }

  remove(pid: number): this {
    this.#pids.delete(pid);
    for (const path of [...this.files.keys()]) if (path.startsWith(`/proc/${pid}/`)) this.files.delete(path);
    return this;
  }

  put(path: string, content: FakeFile): this {
    this.files.set(path, content);
    return this;
  }

  now() {
    const elapsed = this.#elapsed();
    return { wall: new Date(Date.parse(this.wall) + elapsed).toISOString(), offsetMs: this.offsetMs + elapsed };
  }

  pids(): readonly number[] {
    return [...this.#pids].sort((a, b) => a - b);
  }

  list(path: string): readonly string[] {
    return this.#children(path).map(name => name.replace(/\/$/, ''));
  }

  read(path: string): FileResult {
    return this.#answer({ path });
  }

  look(pid: number): ProcessLook {
    return this.#looks.get(pid) ?? this.#emptyLook(pid);
  }

  async lookRisky(pids: readonly number[]): Promise<readonly ProcessLook[]> {
    this.lookedAt.push(...pids);
    this.lookCalls.push(pids);
    return pids.map(pid => this.look(pid));
  }

  async readRisky(files: readonly FileRequest[], deadline: Deadline): Promise<readonly FileResult[]> {
    if (!(deadline.deadlineMs > 0)) throw new RangeError(`deadline of ${deadline.deadlineMs} ms`);
    this.calls.push(files);
    return files.map(request => this.#answer(request));
  }

  #emptyLook(pid: number): ProcessLook {
    const text = (name: string) => {
      const content = this.files.get(`/proc/${pid}/${name}`);
      if (content === undefined) return null;
      return typeof content === 'object' && 'link' in content ? content.link : String(content);
    };
    const outcome = this.#pids.has(pid) ? 'ok' : 'gone';
    return {
      pid,
      comm: text('comm')?.trimEnd() ?? null,
      status: text('status'),
      stat: text('stat'),
      cwd: text('cwd'),
      threads: [],
      clock: null,
      offsetMs: 0,
      durationMs: 0,
      outcome,
    };
  }

  #elapsed(): number {
    return performance.now() - this.#born;
  }

  #children(path: string): string[] {
    const below = `${path.replace(/\/$/, '')}/`;
    const names = new Set<string>();
    for (const file of this.files.keys()) {
      if (!file.startsWith(below)) continue;
      const [name = '', ...more] = file.slice(below.length).split('/');
      names.add(more.length > 0 ? `${name}/` : name);
    }
    return [...names];
  }

  #answer({ path, what = 'body', maxBytes = 1 << 20, withStat }: FileRequest): FileResult {
    const result = (outcome: Outcome, body = '', detail?: string): FileResult => {
      const bytes = Buffer.from(body, 'latin1');
      const mtimeNs = this.mtimes.get(path);
      const stat = withStat && mtimeNs ? { stat: { mtimeNs } as NonNullable<FileResult['stat']> } : {};
      return {
        path,
        outcome,
        body: bytes,
        offsetMs: this.offsetMs + this.#elapsed(),
        durationMs: 0,
        ...stat,
        ...(detail === undefined ? {} : { detail }),
      };
    };
    const content = this.files.get(path);
    if (typeof content === 'object' && 'outcome' in content) return result(content.outcome, '', content.detail);
    if (what === 'dir') {
      const names = this.#children(path);
      return names.length === 0 ? result('gone') : result('ok', names.map(name => `${name}\n`).join(''));
    }
    if (content === undefined) return result('gone', '', 'ENOENT');
    if (typeof content === 'object' && 'link' in content)
      return what === 'link' ? result('ok', content.link) : result('error');
    const text =
      typeof content === 'string' ? Buffer.from(content, 'utf8').toString('latin1') : content.toString('latin1');
    if (text.length > maxBytes) return result('truncated', text.slice(0, maxBytes));
    return result(text === '' ? 'empty' : 'ok', text);
  }

  /** Path to mtime in ns. */
  readonly mtimes = new Map<string, string>();
}
