import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import type { CommandRequest, CommandResult } from '../port.ts';
import { type CappedOutput, cappedOutput } from './capped-output.ts';
import { childrenOf, killDescendantsOf } from './descendants.ts';

/** With what else a probe needs only now and then, so that all of it is loaded late. */
export { readUsage } from './usage.ts';

/** What a probe sends of a command, its output aside: the body is stdout, then stderr. */
export type CommandReading = Pick<CommandResult, 'outcome' | 'exitCode' | 'detail' | 'durationMs'> & {
  readonly startMs: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
};

export interface CommandAnswer {
  readonly reading: CommandReading;
  /** Pieces of stdout, then of stderr. */
  readonly body: readonly Buffer[];
  /** Something of the command may be left: the probe's whole group has to go. */
  readonly left: boolean;
  /** When its time was over: what ran below this probe, as `pid comm state wchan`. */
  readonly children?: readonly string[];
}

const DEFAULT_MAX_BYTES = 4 << 20;

/** How long after its SIGKILL a command may take to end before it counts as unkillable. */
const AFTER_KILL_MS = 200;

/** Where node tools lie when PATH does not say: sbin for users, Flatcar, snap, and crictl on Container-Optimized OS. */
const MORE_PLACES = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  '/opt/bin',
  '/snap/bin',
  '/home/kubernetes/bin',
];

/**
 * Runs a command of the node. In a probe only: finding the program and starting it can hang on a stalled disk (libuv
 * waits for exec in the thread that spawns). It stays in the probe's process group, so whoever kills that ends it too.
 * `untilMs`: reading of the monotonic clock when its time is over; it began to run when it was asked for, not here.
 */
export async function runCommand(request: CommandRequest, untilMs: number): Promise<CommandAnswer> {
  const startMs = monotonicMs();
  const { maxBytes = DEFAULT_MAX_BYTES, keep = 'head' } = request;
  const [program = '', ...args] = request.argv;
  const file = findProgram(program, request.env?.['PATH'] ?? process.env['PATH'] ?? '');
  const output = { stdout: cappedOutput(maxBytes, keep), stderr: cappedOutput(maxBytes, keep) };
  const { left, children, ...ended }: Ended =
    file === null
      ? { outcome: 'absent', exitCode: null, detail: `no ${program} in PATH`, left: false }
      : await runProgram(file, args, request, untilMs, output);
  const stdout = output.stdout.pieces();
  const stderr = output.stderr.pieces();
  const reading = {
    ...ended,
    startMs,
    durationMs: toMicroseconds(monotonicMs() - startMs),
    stdoutBytes: bytesOf(stdout),
    stderrBytes: bytesOf(stderr),
  };
  return { reading, body: [...stdout, ...stderr], left, ...(children === undefined ? {} : { children }) };
}

const bytesOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0);

type Ended = Pick<CommandReading, 'outcome' | 'exitCode' | 'detail'> & Pick<CommandAnswer, 'left' | 'children'>;

async function runProgram(
  file: string,
  args: readonly string[],
  request: CommandRequest,
  untilMs: number,
  output: Record<'stdout' | 'stderr', CappedOutput>,
): Promise<Ended> {
  const { argv, timeoutMs, env = {} } = request;
  const subprocess = execa(file, args, {
    argv0: argv[0] ?? file,
    // What comes is counted and cut here: execa's own cap would end the command and cannot keep the newest part.
    buffer: false,
    encoding: 'buffer',
    stripFinalNewline: false,
    reject: false,
    stdin: 'ignore',
    env: { LC_ALL: 'C.UTF-8', ...env },
    cleanup: false,
  });
  // A head that is full needs no more of the command. Its end is not waited for: a child of it may hold the pipe.
  const full = Promise.withResolvers<'full'>();
  const isFull = () => full.resolve('full');
  subprocess.stdout.on('data', (chunk: Buffer) => output.stdout.take(chunk, isFull));
  subprocess.stderr.on('data', (chunk: Buffer) => output.stderr.take(chunk, isFull));

  const ended = Promise.race([subprocess.then(result => result), full.promise]);
  const result = await within(Math.max(0, untilMs - monotonicMs()), ended);
  if (result === 'full') {
    end(subprocess);
    return { outcome: 'truncated', exitCode: null, detail: capDetail(request), left: true };
  }
  if (result === null) {
    // Before the kill: what it was waiting in.
    const children = childrenOf(process.pid);
    end(subprocess);
    // A moment for what follows a kill, so that its cost is counted; what is in D does not.
    await within(AFTER_KILL_MS, ended);
    return { outcome: 'timeout', exitCode: null, detail: `no end within ${timeoutMs} ms`, left: true, children };
  }
  const exitCode = result.exitCode ?? null;
  if (output.stdout.cut() || output.stderr.cut()) {
    return { outcome: 'truncated', exitCode, detail: capDetail(request), left: false };
  }
  if (exitCode === 0) return { outcome: 'ok', exitCode, left: false };
  return { outcome: 'error', exitCode, detail: reasonOf(result), left: false };
}

/** Ends a command with all that runs below it. Its pipes must not keep this process. */
function end(subprocess: { readonly stdout: Readable; readonly stderr: Readable }): void {
  // All at once: a child whose parent went first is nobody's child, and could have left our group before.
  killDescendantsOf(process.pid);
  subprocess.stdout.destroy();
  subprocess.stderr.destroy();
}

/** What execa says of a command that failed. */
interface Failure {
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly originalMessage?: string | undefined;
}

function reasonOf({ exitCode, signal, originalMessage }: Failure): string {
  if (signal !== undefined) return `ended by ${signal}`;
  return exitCode === undefined ? (originalMessage ?? 'could not be started') : `exit code ${exitCode}`;
}

/** What a promise gives within some ms, else null. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  const first = await Promise.race([promise, late.promise]);
  clearTimeout(timer);
  return first;
}

const capDetail = ({ maxBytes = DEFAULT_MAX_BYTES, keep = 'head' }: CommandRequest) =>
  `${keep === 'head' ? 'first' : 'last'} ${maxBytes} bytes of each output`;

/** The first executable of that name. Paths with a slash are taken as they stand. */
function findProgram(name: string, path: string): string | null {
  const places = [...path.split(delimiter).filter(place => place !== ''), ...MORE_PLACES];
  const candidates = name.includes('/') ? [name] : places.map(place => join(place, name));
  return candidates.find(isExecutable) ?? null;
}

/** Not what is in a folder that may not be entered (another's home in PATH, FUSE even to root), or that does not exist. */
function isExecutable(path: string): boolean {
  try {
    const stat = statSync(path);
    return stat.isFile() && (stat.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
