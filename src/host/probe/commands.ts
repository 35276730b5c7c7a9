import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import type { CommandRequest, CommandResult } from '../port.ts';

/** What a probe sends of a command, its output aside: the body is stdout, then stderr. */
export type CommandReading = Pick<CommandResult, 'outcome' | 'exitCode' | 'detail' | 'durationMs'> & {
  readonly startMs: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** The command did not end after SIGKILL: this probe has to go with it. */
  readonly left: boolean;
};

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
 */
export async function runCommand(
  request: CommandRequest,
): Promise<{ readonly reading: CommandReading; readonly body: readonly Buffer[] }> {
  const startMs = monotonicMs();
  const [program = '', ...args] = request.argv;
  const file = findProgram(program, request.env?.['PATH'] ?? process.env['PATH'] ?? '');
  const output = { stdout: collect(request), stderr: collect(request) };
  const ended =
    file === null
      ? ({ outcome: 'absent', exitCode: null, detail: `no ${program} in PATH`, left: false } as const)
      : await runProgram(file, args, request, output);
  const stdout = output.stdout.bytes();
  const stderr = output.stderr.bytes();
  const cut = [output.stdout, output.stderr].some(stream => stream.cut());
  const reading = {
    ...(cut && ended.outcome === 'ok'
      ? { ...ended, outcome: 'truncated' as const, detail: capDetail(request) }
      : ended),
    startMs,
    durationMs: toMicroseconds(monotonicMs() - startMs),
    stdoutBytes: stdout.length,
    stderrBytes: stderr.length,
  };
  return { reading, body: [stdout, stderr] };
}

type Ended = Pick<CommandReading, 'outcome' | 'exitCode' | 'detail' | 'left'>;

async function runProgram(
  file: string,
  args: readonly string[],
  request: CommandRequest,
  output: Record<'stdout' | 'stderr', Collected>,
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
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    cleanup: false,
  });
  // A head that is full needs no more of the command; SIGPIPE would end it as well, only later.
  const full = () => subprocess.kill('SIGKILL');
  subprocess.stdout.on('data', (chunk: Buffer) => output.stdout.take(chunk, full));
  subprocess.stderr.on('data', (chunk: Buffer) => output.stderr.take(chunk, full));

  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), timeoutMs + AFTER_KILL_MS);
  const result = await Promise.race([subprocess, late]);
  clearTimeout(timer);
  const timedOut = { outcome: 'timeout', exitCode: null, detail: `no end within ${timeoutMs} ms` } as const;
  if (result === null) {
    subprocess.stdout.destroy();
    subprocess.stderr.destroy();
    // Unkillable itself, or it left a child behind that holds its output open.
    return { ...timedOut, left: true };
  }
  // After a timeout its children may still run: the whole group goes with this probe.
  if (result.timedOut) return { ...timedOut, left: true };
  const exitCode = result.exitCode ?? null;
  if (output.stdout.cut() || output.stderr.cut())
    return { outcome: 'truncated', exitCode, detail: capDetail(request), left: true };
  if (exitCode === 0) return { outcome: 'ok', exitCode, left: false };
  const signal = result.signal === undefined ? null : `ended by ${result.signal}`;
  const detail =
    signal ?? (exitCode === null ? (result.originalMessage ?? 'could not be started') : `exit code ${exitCode}`);
  return { outcome: 'error', exitCode, detail, left: false };
}

const capDetail = ({ maxBytes = DEFAULT_MAX_BYTES, keep = 'head' }: CommandRequest) =>
  `${keep === 'head' ? 'first' : 'last'} ${maxBytes} bytes of each output`;

interface Collected {
  take(chunk: Buffer, full: () => void): void;
  cut(): boolean;
  bytes(): Buffer;
}

/** The first or the last `maxBytes` of a stream. */
function collect({ maxBytes = DEFAULT_MAX_BYTES, keep = 'head' }: CommandRequest): Collected {
  const chunks: Buffer[] = [];
  let kept = 0;
  let cut = false;
  return {
    take(chunk, full) {
      if (keep === 'head' && kept + chunk.length > maxBytes) {
        cut = true;
        full();
        if (kept >= maxBytes) return;
      }
      chunks.push(chunk);
      kept += chunk.length;
      while (keep === 'tail' && kept - (chunks[0]?.length ?? 0) > maxBytes) {
        kept -= chunks.shift()?.length ?? 0;
        cut = true;
      }
    },
    cut: () => cut || kept > maxBytes,
    bytes() {
      const all = Buffer.concat(chunks);
      if (all.length <= maxBytes) return all;
      return keep === 'head' ? all.subarray(0, maxBytes) : all.subarray(all.length - maxBytes);
    },
  };
}

/** The first executable of that name. Paths with a slash are taken as they stand. */
function findProgram(name: string, path: string): string | null {
  const places = [...path.split(delimiter).filter(place => place !== ''), ...MORE_PLACES];
  const candidates = name.includes('/') ? [name] : places.map(place => join(place, name));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}
