/**
 * Whether the log of a shim holds a dump that is ours and whole: a line with `marker` (the dump's END) whose `time="…"`
 * is not before the signal. Older dumps may be queued in the pipe ahead of it. logrus writes one line per dump; v1 shims
 * write no fraction of a second, so theirs are compared by whole seconds.
 */
export function hasOurDump(log: Buffer, marker: string, notBeforeMs: number): boolean {
  for (let at = log.indexOf(marker); at >= 0; at = log.indexOf(marker, at + marker.length)) {
    const begin = log.lastIndexOf('\n', at) + 1;
    const end = log.indexOf('\n', at);
    // The line's own end must be there too: the marker is followed by the closing quote and fields.
    if (end < 0) return false;
    const written = timeOf(log.toString('utf8', begin, Math.min(end, begin + 120)));
    if (written === null || written >= notBeforeMs) return true;
  }
  return false;
}

/** Wall clock, ms since 1970, to the end of the second when no fraction was written. Null when the line has no time. */
function timeOf(line: string): number | null {
  const time = /^time="([^"]+)"/.exec(line)?.[1];
  if (time === undefined) return null;
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return null;
  return /\d\.\d/.test(time) ? ms : ms + 999;
}
