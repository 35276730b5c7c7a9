import type { Invocation } from '../src/cli/invocation.ts';
import { takeFirstLook } from '../src/host/first-look.ts';
import { watchForInterruption } from '../src/host/interruption.ts';
import { PROBE_ARGUMENT, WRITER_ARGUMENT } from '../src/host/self.ts';
import { loadProgram } from './load-program.ts';

/**
 * The entry of the single executable, of bin/run.js and of `node bin/main.ts`. It is small on purpose: what it imports
 * stands between the user and the first stack. Hidden modes first, then the look at the shims, then the program.
 */
async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === PROBE_ARGUMENT) {
    const { serveProbe } = await import('../src/host/probe/child.ts');
    return serveProbe();
  }
  if (argv[0] === WRITER_ARGUMENT) {
    const { serveWriter } = await import('../src/host/writer/child.ts');
    return serveWriter();
  }
  if (!looksAtShims(argv)) return runProgram(argv, null);
  // From here on there is something to lose: a signal ends the run in order.
  const interruption = watchForInterruption();
  const firstLook = takeFirstLook(argv.slice(1));
  return runProgram(argv, { firstLook, interruption });
}

async function runProgram(argv: readonly string[], capture: Pick<Invocation, 'firstLook' | 'interruption'> | null) {
  const { createHost } = await import('../src/host/linux.ts');
  const host = createHost();
  // Not before the look, which forks nothing. A probe takes as long to start as the program to load.
  if (capture !== null) host.warmUp();
  const program = await loadProgram();
  return program.run({ argv, host, ...(capture ?? { firstLook: null }) });
}

/** By the words alone: what flags mean is the program's to say. */
function looksAtShims(argv: readonly string[]): boolean {
  return argv[0] === 'grab' && !argv.includes('--help') && !argv.includes('-h');
}

/**
 * `process.exit` and no natural end: a probe in D keeps nothing alive, but a handle that somebody forgot must not keep a
 * finished run. What was written is out by then: the program waits for its streams, as far as they move.
 */
main(process.argv.slice(2)).then(
  code => process.exit(code),
  error => {
    // Without a program there is nobody to put it nicely. 1: a fault of this program.
    process.stderr.write(`stallcap: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`, () =>
      process.exit(1),
    );
  },
);
