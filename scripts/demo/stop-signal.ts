/** Ctrl-C and the like, turned into a failure of whatever is waited for: so that the way out is the one through `finally`. */
export interface StopSignal {
  /** Which one came, if any. */
  readonly cause: NodeJS.Signals | null;
  /** Aborts when it comes. */
  readonly signal: AbortSignal;
  /** What the promise gives; rejects when a signal comes, or came, before. */
  unless<T>(promise: Promise<T>): Promise<T>;
}

/** Watches from now on. A second signal ends the process on the spot; the lab's guardian then takes away what is left. */
export function stopSignal(): StopSignal {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stopped.catch(() => undefined);
  const controller = new AbortController();
  let cause: NodeJS.Signals | null = null;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // A terminal that closes may say so twice.
      if (cause !== null && name !== 'SIGHUP') process.exit(130);
      if (cause !== null) return;
      cause = name;
      console.error(`\n${name}: one moment, what was made is taken away again.`);
      controller.abort(new Error(name));
      reject(controller.signal.reason);
    });
  }
  // Of a terminal that is gone nothing can be told, and cleaning up must not fail for it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    get cause() {
      return cause;
    },
    signal: controller.signal,
    unless: promise => Promise.race([stopped, promise]),
  };
}
