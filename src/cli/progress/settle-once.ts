import type { PhaseProgress } from '../../capture/progress.ts';

export interface End {
  readonly ok: boolean;
  /** '<title>: <result>' */
  readonly line: string;
}

/** A phase that ends once, whatever is said to it afterwards, and says so with its title. */
export interface OpenPhase extends PhaseProgress {
  cutShort(): void;
}

export function settleOnce(title: string, ended: (end: End) => void): OpenPhase {
  let open = true;
  const end = (ok: boolean, text: string) => {
    if (open) ended({ ok, line: `${title}: ${text}` });
    open = false;
  };
  return {
    done: result => end(true, result),
    failed: why => end(false, why),
    cutShort: () => end(false, 'cut short'),
  };
}
