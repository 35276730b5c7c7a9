import type { Moment } from '../../host/port.ts';

/** Ends every dump: containerd runtime/v2/shim/shim.go dumpStacks, the same in all versions from 1.2 to 2.4. */
export const END_OF_DUMP = '=== END goroutine stack dump ===';

/** A probe that only opens or lists answers in a few ms. */
export const OPEN_MS = 1000;
/** journalctl for one entry: 30 ms; more where its files are many and the disk is busy. */
export const CURSOR_MS = 800;
/** chrt, in a probe: where it does not answer, our reader goes without. */
export const PRIORITY_MS = 1500;
/** How long our own reader waits for the dump: 0.5 s on a healthy node, more where the shim gets no CPU. */
export const DRAIN_MS = 6000;
/** How long containerd has to bring the dump into its log before it counts as not draining. */
export const THROUGH_CONTAINERD_MS = 3000;
export const POLL_MS = 300;

/** Our wall clock is cut to the ms and kept by the monotonic clock; the shim's may have been corrected since. */
const SLACK_MS = 100;

/** ISO time that our dump's own `time=` is not before. */
export function notBefore(sent: Moment): string {
  return new Date(Date.parse(sent.wall) - SLACK_MS).toISOString();
}
