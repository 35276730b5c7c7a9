import type { GrabOptions } from '../collectors/collector.ts';
import type { Target } from '../sandbox/types.ts';
import type { HostRecord, Operator, Tool } from './manifest.ts';

/** plan.json, the first entry of a bundle: what will be tried. All that a bundle cut early says about itself. */
export interface Plan {
  readonly format: 1;
  readonly tool: Tool;
  /** Start of the process, UTC with milliseconds: offset 0 of all that follows. */
  readonly startedAt: string;
  readonly argv: readonly string[];
  readonly note: string | null;
  readonly options: GrabOptions & { readonly redact: boolean };
  readonly operator: Operator;
  readonly host: HostRecord;
  readonly target: Target;
  /** In order of volatility. */
  readonly collectors: readonly {
    readonly name: string;
    readonly phase: string;
    readonly deadlineMs: number;
  }[];
}
