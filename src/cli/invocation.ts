import type { Interruption } from '../host/interruption.ts';
import type { FirstLook, Host } from '../host/port.ts';

/** What the entry hands to the program: the arguments after the program's name, the machine, and what it saw at once. */
export interface Invocation {
  readonly argv: readonly string[];
  readonly host: Host;
  /** null when the arguments asked for something that needs no look at a shim. */
  readonly firstLook: FirstLook | null;
  /** Watched since before the first look, where there was one. */
  readonly interruption?: Interruption;
}
