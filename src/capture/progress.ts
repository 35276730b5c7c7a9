/**
 * What a long run tells whoever watches it. The engine reports phases as they start and end; src/cli shows them on
 * stderr. Nothing here waits: a terminal that does not answer must not slow a capture.
 */
export interface Progress {
  /** `name` is stable (a Phase, mostly), `title` is for people: 'Reading kernel stacks of the shim'. */
  phase(name: string, title: string): PhaseProgress;
  /** Clears what is live. Phases still open are shown as cut short. Resolves when the last line is written. */
  close(): Promise<void>;
}

export interface PhaseProgress {
  /** One line: '14 threads, 1 in D (wb_wait_for_completion)'. */
  done(result: string): void;
  /** One line: what is missing and why. */
  failed(why: string): void;
}

/** Shows nothing: tests, --quiet. */
export const SILENT: Progress = {
  phase: () => ({ done: () => {}, failed: () => {} }),
  close: async () => {},
};
