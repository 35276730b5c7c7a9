import type { Evidence } from '../bundle/evidence.ts';
import type { CommandResult } from '../host/port.ts';
import type { Capture } from './collector.ts';
import { timeFor } from './evidence-of.ts';

/** One question to a runtime's own client. */
export interface Question {
  /** Names the entry: 'ps' -> runtime/crictl-ps.txt. */
  readonly what: string;
  readonly args: readonly string[];
  /** Takes out of the answer what must not leave the node. */
  readonly redact?: (answer: Evidence) => Evidence;
}

/** Everything that is asked of one daemon. */
export interface Interview {
  /** The client, and how it is started: each alternative is tried until one exists. `k3s ctr` is ['k3s', 'ctr']. */
  readonly tool: string;
  readonly programs: readonly (readonly string[])[];
  /** Added to the names of the entries when a node has more than one such daemon: '', '-2'. */
  readonly suffix: string;
  readonly questions: readonly Question[];
}

/** Long enough for a busy node (crictl's own limit is 2 s), short enough to ask the next daemon. */
const ANSWER_MS = 3000;
const STDERR_KEPT = 4096;

/**
 * Asks one question after another. How long each answer took is evidence itself, and so is none: after one question
 * hung, the rest of this daemon's are not asked, since each would cost the same wait and load a runtime that is stuck.
 */
export async function* ask(capture: Capture, interviews: readonly Interview[]): AsyncGenerator<Evidence> {
  for (const { tool, programs, suffix, questions } of interviews) {
    const log: CommandResult[] = [];
    let found = programs;
    let hung: string | null = null;
    for (const question of questions) {
      const path = `runtime/${tool}-${question.what}${suffix}.txt`;
      if (hung !== null) {
        const detail = `not asked: ${hung} had no answer before`;
        yield {
          path,
          source: sourceOf(found[0] ?? [], question),
          outcome: 'timeout',
          body: Buffer.alloc(0),
          detail,
        };
        continue;
      }
      const { program, result } = await firstThere(capture, found, question.args);
      found = [program];
      log.push(result);
      if (result.outcome === 'absent') {
        const source = sourceOf(programs[0] ?? [], question);
        yield { ...answerOf(path, result), source, detail: `${tool} is not installed` };
        break;
      }
      if (hangs(result)) hung = result.argv.join(' ');
      const answer = answerOf(path, result);
      yield question.redact === undefined ? answer : question.redact(answer);
    }
    const body = Buffer.from(log.map(line).join(''));
    yield {
      path: `runtime/${tool}-commands${suffix}.jsonl`,
      source: `${tool}, exit codes and durations`,
      outcome: 'ok',
      body,
    };
  }
}

/** A client may give up before we do (ctr --connect-timeout, crictl --timeout): gRPC's words for that, and Go's. */
const GAVE_UP = /context deadline exceeded|DeadlineExceeded|i\/o timeout/;

function hangs({ outcome, stderr }: CommandResult): boolean {
  return outcome === 'timeout' || (outcome === 'error' && GAVE_UP.test(stderr.toString('utf8')));
}

/** Nobody listens at the daemon's socket: gRPC's words for that. */
const NOBODY = /code = Unavailable|error while dialing/i;

/** A client that failed by itself: it does not speak the daemon's API, or its configuration has a fault. */
export function cannotAsk({ outcome, detail = '' }: Pick<Evidence, 'outcome' | 'detail'>): boolean {
  return outcome === 'error' && !GAVE_UP.test(detail) && !NOBODY.test(detail);
}

/** Puts the question to the first of the programs that exists; when none does, the answer is the last one's. */
async function firstThere(
  capture: Capture,
  programs: readonly (readonly string[])[],
  args: readonly string[],
): Promise<{ readonly program: readonly string[]; readonly result: CommandResult }> {
  for (const [index, program] of programs.entries()) {
    const timeoutMs = timeFor(capture, ANSWER_MS);
    const result = await capture.host.run({ argv: [...program, ...args], timeoutMs, signal: capture.signal });
    if (result.outcome !== 'absent' || index === programs.length - 1) return { program, result };
  }
  throw new RangeError('an interview without a program');
}

function answerOf(path: string, result: CommandResult): Evidence {
  const failed = result.outcome !== 'ok' && result.outcome !== 'empty';
  const says = result.stderr.toString('utf8').trim().split('\n').at(-1) ?? '';
  const how = result.exitCode === null ? result.outcome : `exit code ${result.exitCode}`;
  const reason = [`${how} after ${Math.round(result.durationMs)} ms`, result.detail, says].filter(Boolean).join(': ');
  return {
    path,
    source: result.argv.join(' '),
    outcome: result.outcome,
    body: result.stdout.length > 0 ? result.stdout : result.stderr,
    at: { offsetMs: result.offsetMs, durationMs: result.durationMs },
    ...(failed ? { detail: reason } : {}),
  };
}

/** One JSON object per line: what was run, how it ended, how long it took (ms), what it complained about. */
function line(result: CommandResult): string {
  const { argv, outcome, exitCode, offsetMs, durationMs, detail } = result;
  const stderr = result.stderr.subarray(0, STDERR_KEPT).toString('utf8');
  return `${JSON.stringify({ argv, outcome, exitCode, offsetMs, durationMs, detail, stdoutBytes: result.stdout.length, stderr })}\n`;
}

function sourceOf(program: readonly string[], question: Question): string {
  return [...program, ...question.args].join(' ');
}

/** '', '-2', '-3': the first daemon's entries have the plain names. */
export function suffixOf(index: number): string {
  return index === 0 ? '' : `-${index + 1}`;
}
