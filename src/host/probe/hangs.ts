import { offsetMs } from '../clock.ts';
import type { StuckProbe } from '../port.ts';
import type { Findings } from './autopsy.ts';
import type { ProbeProcess } from './probe-process.ts';

/** What is known of probes that hung: the record of each, and how many did in which kind of read. */
export class Hangs {
  readonly #records: { readonly record: Omit<StuckProbe, 'reaped'>; readonly probe: ProbeProcess }[] = [];
  readonly #byKind = new Map<string, number>();

  record(
    probe: ProbeProcess,
    what: Pick<StuckProbe, 'request' | 'item' | 'waitedMs'>,
    { state, wchan, syscall, stack, fds, children }: Findings,
  ): void {
    const findings = { state, wchan, syscall, stack, fds, children };
    this.#records.push({ probe, record: { pid: probe.pid ?? 0, offsetMs: offsetMs(), ...what, ...findings } });
  }

  count(kind: string): void {
    this.#byKind.set(kind, this.of(kind) + 1);
  }

  of(kind: string): number {
    return this.#byKind.get(kind) ?? 0;
  }

  get stuck(): readonly StuckProbe[] {
    return this.#records.map(({ record, probe }) => ({ ...record, reaped: probe.exited }));
  }

  get probes(): readonly ProbeProcess[] {
    return this.#records.map(({ probe }) => probe);
  }
}
