import { type Asked, readArguments } from './arguments.ts';
import { prepareEnvironment } from './environment.ts';
import { toFailure } from './failure.ts';
import { failureDocument, failureWords } from './failure-words.ts';
import type { FileStreams } from './file-streams.ts';
import type { Invocation } from './invocation.ts';
import type { Registry } from './registry.ts';
import { jsonText } from './result.ts';
import { withStrays } from './strays.ts';
import { openStreams, type Streams } from './streams.ts';
import { versionAnswer } from './version-answer.ts';

/** Everything after the entry. */
export interface Program {
  /** Writes the answer or the failure and resolves to the exit code. Never rejects, never exits by itself. */
  run(invocation: Invocation): Promise<number>;
}

/** @param registry commands/index.ts @param files what is done with standard streams that lead to files */
export function createProgram(registry: Registry, files: FileStreams): Program {
  return {
    async run(invocation) {
      const asked = readArguments(invocation.argv);
      prepareEnvironment(asked);
      const streams = openStreams(files);
      const code = await withStrays(() => answer(asked, invocation, registry, streams)).catch(error =>
        reportFailure(error, asked, streams),
      );
      await streams.close();
      return code;
    },
  };
}

async function answer(asked: Asked, invocation: Invocation, registry: Registry, streams: Streams): Promise<number> {
  const { exit, json, text } = asked.version
    ? versionAnswer()
    : await answerOfCommand(asked, invocation, registry, streams);
  await streams.result(asked.json ? jsonText(json) : text);
  return exit;
}

/** oclif is loaded here: after the environment that it reads is prepared, and not to say a version. */
async function answerOfCommand(asked: Asked, invocation: Invocation, registry: Registry, streams: Streams) {
  const { invoke } = await import('./invoke.ts');
  streams.calm();
  return invoke(asked, { ...invocation, registry });
}

async function reportFailure(error: unknown, asked: Asked, streams: Streams): Promise<number> {
  const failure = toFailure(error, asked.command);
  const debug = asked.debug || Boolean(process.env['DEBUG']);
  process.stderr.write(failureWords(failure, debug));
  // stdout that failed once fails again; the exit code and stderr have said it.
  if (asked.json) await streams.result(jsonText(failureDocument(failure, debug))).catch(() => {});
  return failure.exit;
}
