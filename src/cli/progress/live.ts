import type { Progress } from '../../capture/progress.ts';
import { type End, type OpenPhase, settleOnce } from './settle-once.ts';

/**
 * Spinners by listr2. Each phase is a list of its own, shown when the one before has ended: phases come as the engine
 * starts them, and listr2 wants to know all tasks of a list before it runs. What happens meanwhile is kept.
 */
export function liveProgress(terminal: NodeJS.WriteStream): Progress {
  const phases: OpenPhase[] = [];
  let shown: Promise<unknown> = Promise.resolve();
  return {
    phase(_name, title) {
      const { promise, resolve } = Promise.withResolvers<End>();
      const phase = settleOnce(title, resolve);
      phases.push(phase);
      shown = shown.then(() => show(terminal, title, promise));
      return phase;
    },
    async close() {
      for (const phase of phases) phase.cutShort();
      await shown;
    },
  };
}

async function show(terminal: NodeJS.WriteStream, title: string, end: Promise<End>): Promise<void> {
  // Loaded when there is something to show, after the first look: it is as large as oclif.
  const { DefaultRenderer, Listr, ListrLogger, ProcessOutput } = await import('listr2');
  class OnStderr extends DefaultRenderer {
    // listr2 asks whether stdout is a terminal. It need not be: the spinners are on stderr.
    static override nonTTY = true;
  }
  const screen = onlyWrites(terminal);
  const list = new Listr(
    [
      {
        title,
        async task(_context, task) {
          const { ok, line } = await end;
          task.title = line;
          if (!ok) throw new Error(line);
        },
      },
    ],
    {
      renderer: OnStderr,
      exitOnError: false,
      // A signal is the capture's to handle: it seals what it has.
      registerSignalListeners: false,
      rendererOptions: { logger: new ListrLogger({ processOutput: new ProcessOutput(screen, screen) }) },
    },
  );
  await list.run();
}

/**
 * listr2 takes over the `write` of the streams it is given, and of process.stdout when given none, and holds back what
 * others write. The bundle may be on its way through stdout, and an error message must not be lost: so it gets a
 * stream of its own that writes to the terminal.
 */
function onlyWrites(terminal: NodeJS.WriteStream): NodeJS.WriteStream {
  return new Proxy(terminal, {
    get(target, property) {
      // A terminal that nobody told its size (ssh -tt, expect) says 0, and listr2 would print one letter per line.
      if (property === 'columns') return target.columns || 80;
      if (property === 'rows') return target.rows || 24;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    // What is assigned stays here.
    set: () => true,
  });
}
