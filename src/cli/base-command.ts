import { Command, Flags } from '@oclif/core';
import type { Progress } from '../capture/progress.ts';
import { EXIT } from '../errors.ts';
import type { Answer } from './answer.ts';
import { openProgress } from './progress/open-progress.ts';
import type { Answering, CommandContext } from './registry.ts';

/**
 * What all commands share. A command declares `summary`, `examples`, `flags` and `args`, parses them with
 * `this.parse(Itself)`, calls one use case and returns its answer. It never writes to stdout and never exits.
 */
export abstract class BaseCommand extends Command implements Answering {
  static override baseFlags = {
    json: Flags.boolean({ summary: 'Print the result as one JSON document.', helpGroup: 'COMMON' }),
    quiet: Flags.boolean({ summary: 'Say nothing on stderr but errors.', helpGroup: 'COMMON' }),
    debug: Flags.boolean({ summary: 'Show where an unexpected failure came from.', helpGroup: 'COMMON' }),
    // Honoured before anything is parsed, see environment.ts; it stands here to be accepted and shown.
    'no-color': Flags.boolean({ summary: 'No colours; the same as NO_COLOR=1.', helpGroup: 'COMMON' }),
  };

  /** Set by `answer` before `run` is called. */
  protected context!: CommandContext;

  /** Answers; throws a StallcapError when it cannot. */
  abstract override run(): Promise<Answer>;

  /** Runs it. What it throws is the caller's: one place turns failures into words and exit codes. */
  async answer(context: CommandContext): Promise<Answer> {
    this.context = context;
    return this._run<Answer>();
  }

  /** oclif would print here; see `answer`. */
  protected override async catch(error: Error): Promise<never> {
    throw error;
  }

  /**
   * - oclif reads a missing argument from stdin, and waits for it: under ssh, cron or `while read` that would swallow
   *   somebody else's input, or hang. No argument of stallcap comes from there.
   * - What an argument's own parser throws arrives bare; it is the user's slip all the same.
   */
  protected override parse: Command['parse'] = async (options, argv) => {
    for (const arg of Object.values(options?.args ?? {})) Object.assign(arg, { ignoreStdin: true });
    try {
      return await super.parse(options, argv);
    } catch (error) {
      if (error instanceof Error && error.constructor === Error) Object.assign(error, { oclif: { exit: EXIT.usage } });
      throw error;
    }
  };

  /** True with --quiet, also before the flags are parsed. */
  protected get quiet(): boolean {
    return this.argv.includes('--quiet');
  }

  /** Shows the phases of a long run on stderr; close it before anything else is said. */
  protected openProgress(): Progress {
    return openProgress({ quiet: this.quiet });
  }

  /** A line or more for the person at the terminal, on stderr. */
  protected say(text: string): void {
    if (!this.quiet) process.stderr.write(text.endsWith('\n') ? text : `${text}\n`);
  }
}
