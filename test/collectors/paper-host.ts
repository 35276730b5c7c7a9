import type { CriQuestion } from '../../src/formats/cri/calls.ts';
import type {
  CommandRequest,
  CommandResult,
  CriCall,
  FileRequest,
  FileResult,
  FileStat,
  Host,
  HttpCall,
  Outcome,
  ShimCall,
  ShimQuestion,
} from '../../src/host/port.ts';

/** What stands at a path: text, the target of a link, or how a read of it fails. */
export type Content =
  | string
  | { readonly link: string }
  | { readonly fifo: true }
  | { readonly outcome: Outcome; readonly detail?: string };

/** What a command answers. */
export type Answer = Partial<Pick<CommandResult, 'outcome' | 'exitCode' | 'detail' | 'durationMs'>> & {
  readonly stdout?: string;
  readonly stderr?: string;
};

/**
 * A machine on paper: files by path, commands by a function. For what puts evidence together; how a real machine answers,
 * and hangs, is tried on one.
 */
export class PaperHost {
  readonly startedAt = '2026-11-29T12:00:00.000Z';
  readonly stuckProbes = [];
  /** Every path that was asked for, with what was wanted of it. */
  readonly asked: FileRequest[] = [];
  readonly commands: (readonly string[])[] = [];
  readonly processes = new Map<number, string>();
  answer: (argv: readonly string[]) => Answer = () => ({ outcome: 'absent' });
  /** What CRI, docker's API and shims are asked, and what they answer: nobody listens unless somebody is put there. */
  readonly questions: (CriQuestion | ShimQuestion | string)[] = [];
  cri: (question: CriQuestion) => Partial<CriCall> = () => ({ outcome: 'gone' });
  http: (path: string) => Partial<HttpCall> = () => ({ outcome: 'gone' });
  shim: (question: ShimQuestion) => readonly Partial<ShimCall>[] = () => [{ outcome: 'gone' }];
  readonly #files: Map<string, Content>;
  #clock = 0;

  constructor(files: Readonly<Record<string, Content>> = {}) {
    this.#files = new Map(Object.entries(files));
  }

  get host(): Host {
    return this as unknown as Host;
  }

  put(path: string, content: Content): this {
    this.#files.set(path, content);
    return this;
  }

  now() {
    return { wall: '2026-11-29T12:00:01.000Z', offsetMs: this.#tick() };
  }

  pids(): readonly number[] {
    return [...this.processes.keys()].toSorted((a, b) => a - b);
  }

  read(path: string): FileResult {
    const pid = Number(/^\/proc\/(\d+)\/comm$/.exec(path)?.[1]);
    const comm = this.processes.get(pid);
    return comm === undefined ? this.#answerTo({ path }) : this.#result({ path }, 'ok', `${comm}\n`);
  }

  list(path: string): readonly string[] {
    return this.#namesIn(path).map(name => name.replace(/\/$/, ''));
  }

  async readRisky(files: readonly FileRequest[]): Promise<readonly FileResult[]> {
    this.asked.push(...files);
    return files.map(file => this.#answerTo(file));
  }

  async run({ argv }: CommandRequest): Promise<CommandResult> {
    this.commands.push(argv);
    const { stdout = '', stderr = '', outcome = 'ok', exitCode = 0, durationMs = 5, ...rest } = this.answer(argv);
    const bytes = { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
    const code = outcome === 'absent' || outcome === 'timeout' ? null : exitCode;
    return { argv, outcome, exitCode: code, ...bytes, offsetMs: this.#tick(), durationMs, ...rest };
  }

  /** What stands at /dev/kmsg. */
  async kernelLog(): Promise<FileResult> {
    return this.#answerTo({ path: '/dev/kmsg' });
  }

  async askCri(_socket: string, questions: readonly CriQuestion[]): Promise<readonly CriCall[]> {
    this.questions.push(...questions);
    return questions.map(question => {
      const call = { question, service: 'runtime.v1.RuntimeService', outcome: 'ok', answer: null } as const;
      return { ...call, offsetMs: this.#tick(), latencyMs: 2, ...this.cri(question) };
    });
  }

  async askHttp(_socket: string, paths: readonly string[]): Promise<readonly HttpCall[]> {
    this.questions.push(...paths);
    return paths.map(path => {
      const call = { path, outcome: 'ok', status: 200, body: Buffer.from('{}') } as const;
      return { ...call, offsetMs: this.#tick(), latencyMs: 2, ...this.http(path) };
    });
  }

  async askShims(questions: readonly ShimQuestion[]): Promise<readonly (readonly ShimCall[])[]> {
    this.questions.push(...questions);
    return questions.map(question =>
      this.shim(question).map(given => {
        const call = { call: 'Connect', container: null, service: 'containerd.task.v2.Task', outcome: 'ok' } as const;
        return { ...call, offsetMs: this.#tick(), latencyMs: 2, answer: null, ...given };
      }),
    );
  }

  #tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  #namesIn(directory: string): readonly string[] {
    const names = new Set<string>();
    for (const path of this.#files.keys()) {
      if (!path.startsWith(`${directory}/`)) continue;
      const [name = '', below] = path.slice(directory.length + 1).split('/');
      names.add(below === undefined ? name : `${name}/`);
    }
    return [...names].toSorted();
  }

  #answerTo(request: FileRequest): FileResult {
    const content = this.#files.get(request.path);
    if (typeof content === 'object' && 'outcome' in content) {
      return this.#result(request, content.outcome, '', content.detail);
    }
    if (request.what === 'dir') {
      const names = this.#namesIn(request.path);
      if (names.length === 0) return this.#result(request, 'gone', '', 'ENOENT');
      return this.#result(request, 'ok', names.map(name => `${name}\n`).join(''));
    }
    if (content === undefined) return this.#result(request, 'gone', '', 'ENOENT');
    if (typeof content === 'string') {
      if (request.what === 'stat') return { ...this.#result(request, 'ok', ''), stat: statOf('file', content.length) };
      return this.#result(request, content === '' ? 'empty' : 'ok', content, undefined, 'file');
    }
    const type = 'link' in content ? 'link' : 'fifo';
    if (request.what === 'link' && 'link' in content) return this.#result(request, 'ok', content.link, undefined, type);
    if (request.what === 'stat') return this.#result(request, 'ok', '', undefined, type);
    return this.#result(request, 'error', '', `is a ${type}: not read`, type);
  }

  #result(request: FileRequest, outcome: Outcome, text: string, detail?: string, type?: FileStat['type']): FileResult {
    const { path, maxBytes = 1 << 20, keep = 'head' } = request;
    const whole = Buffer.from(text);
    const cut = whole.length > maxBytes;
    const body = cut ? (keep === 'head' ? whole.subarray(0, maxBytes) : whole.subarray(-maxBytes)) : whole;
    const result = {
      path,
      outcome: cut ? ('truncated' as const) : outcome,
      body,
      offsetMs: this.#tick(),
      durationMs: 1,
    };
    const asked = request.withStat === true || request.what === 'stat';
    return {
      ...result,
      ...(detail === undefined ? {} : { detail }),
      ...(asked && type !== undefined ? { stat: statOf(type, whole.length) } : {}),
    };
  }
}

const MODE = { file: 0o600, fifo: 0o700, link: 0o777 } as const;

function statOf(type: FileStat['type'], size: number): FileStat {
  const mode = MODE[type as keyof typeof MODE] ?? 0o600;
  const times = { mtimeNs: '1795952553569336228', ctimeNs: '1795952553569336229' };
  return { type, size, mode, uid: 0, inode: '812', device: '254:0', ...times };
}
