/** What a goroutine dump says, typed: Go src/runtime/traceback.go and src/runtime/proc.go goroutineheader. */

export interface GoFrame {
  /** As printed: `github.com/containerd/containerd/pkg/process.(*Init).delete`, `main.main`, `sync.(*Mutex).Lock`. */
  readonly function: string;
  /** Between the parentheses; `...` for an inlined call. */
  readonly args: string;
  /** `path/to/file.go`, from the module or GOPATH root in trimmed builds; null where the dump was cut. */
  readonly file: string | null;
  readonly line: number | null;
}

export interface CreatedBy {
  readonly function: string;
  /** Which goroutine did it (Go 1.21 and later). */
  readonly goroutine: number | null;
  readonly file: string | null;
  readonly line: number | null;
}

export interface Goroutine {
  readonly id: number;
  /** `select`, `syscall`, `semacquire` (Go ≤ 1.19 for all of sync), `sync.Mutex.Lock` (≥ 1.20), `runnable`, … */
  readonly state: string;
  /** How long it has waited; null below one minute, and where the dump does not say. */
  readonly minutes: number | null;
  readonly lockedToThread: boolean;
  /** Innermost first. */
  readonly frames: readonly GoFrame[];
  readonly createdBy: CreatedBy | null;
  /** Go prints at most the 50 innermost and 50 outermost frames. */
  readonly elided: boolean;
  /** Lines inside of its block that are none of these, as they stand (`goroutine running on other thread; stack unavailable`). */
  readonly unknown: readonly string[];
  /** Line of its heading in the text, from 1: for citations. */
  readonly lineNumber: number;
}

/** `syscall.Syscall` is named by `Syscall`, `syscall.Syscall`; `…/pkg/process.(*Init).delete` by `(*Init).delete`, `process.(*Init).delete`. */
export function isFunction(frame: { readonly function: string }, name: string): boolean {
  const { function: full } = frame;
  if (!full.endsWith(name)) return false;
  const before = full[full.length - name.length - 1];
  return before === undefined || before === '/' || before === '.';
}

/**
 * Whether the goroutine is inside of all these calls, innermost first, others between them allowed:
 * `['unix.Unmount', '(*Init).delete', '(*service).Delete']`. Names are ends of function names, see `isFunction`.
 */
export function isInside(goroutine: Pick<Goroutine, 'frames'>, calls: readonly string[]): boolean {
  let next = 0;
  for (const frame of goroutine.frames) {
    const name = calls[next];
    if (name === undefined) break;
    if (isFunction(frame, name)) next += 1;
  }
  return next === calls.length;
}
