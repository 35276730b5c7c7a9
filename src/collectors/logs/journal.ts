import { parseCgroups, v1Path, v2Path } from '../../formats/proc/cgroup.ts';
import type { CommandResult } from '../../host/port.ts';
import type { Capture } from '../collector.ts';
import { deadlineOf, timeFor } from '../evidence-of.ts';
import { ofRoot } from '../signal/read-journal.ts';
import { LOG_BYTES, oldestWanted } from './log-turn.ts';

const READ_MS = 5000;

/**
 * The newest part of the journal of a unit, or of a process where there is no unit. Asked for in reverse, so that what is
 * cut, by the cap or by a journal on a slow disk, is the oldest part; put into order again here.
 *
 * @param root of journald, when it is not ours (signal/sink.ts)
 */
export async function readJournal(capture: Capture, root: string, matches: readonly string[]): Promise<CommandResult> {
  const result = await query(capture, root, 'short-iso-precise', matches);
  // systemd before 234 (CentOS 7) knows no microseconds in ISO times.
  const old = result.outcome === 'error' && /output (format|mode)/i.test(result.stderr.toString('utf8'));
  const read = old ? await query(capture, root, 'short-iso', matches) : result;
  return { ...read, stdout: inOrder(read.stdout) };
}

function query(capture: Capture, root: string, output: string, matches: readonly string[]): Promise<CommandResult> {
  const since = `@${Math.floor(oldestWanted(capture) / 1000)}`;
  const options = ['--no-pager', '--quiet', '--all', '--reverse', `--output=${output}`, `--since=${since}`];
  const argv = ['journalctl', ...ofRoot(root), ...options];
  const timeoutMs = timeFor(capture, READ_MS);
  return capture.host.run({ argv: [...argv, ...matches], timeoutMs, maxBytes: LOG_BYTES, signal: capture.signal });
}

/**
 * `--unit=containerd.service` brings also what systemd says about it, and what earlier processes of it wrote;
 * `_PID=812` for a daemon that is in no unit.
 */
export async function journalMatches(capture: Capture, pid: number): Promise<readonly string[]> {
  const [file] = await capture.host.readRisky([{ path: `/proc/${pid}/cgroup` }], deadlineOf(capture, 1000));
  const cgroups = parseCgroups(file?.body.toString('utf8') ?? '');
  const path = v1Path(cgroups, 'name=systemd') ?? v2Path(cgroups) ?? '';
  const unit = path.split('/').find(part => part.endsWith('.service'));
  return unit === undefined ? [`_PID=${pid}`] : [`--unit=${unit}`];
}

const LINE_END = 0x0a;
const BLANK = 0x20;

/**
 * Entries from last to first; an entry's further lines are indented, and stay behind its first one. In place, since it may be
 * 16 MiB: all bytes are turned round, and then those of each entry.
 */
export function inOrder(reversed: Buffer): Buffer {
  // Whatever was cut off in the middle of a line is the oldest entry, and is left out.
  const whole = reversed.subarray(0, reversed.lastIndexOf(LINE_END) + 1);
  const ends: number[] = [];
  for (let end = 0; end < whole.length; ends.push(end)) {
    end = whole.indexOf(LINE_END, end) + 1;
    while (end < whole.length && whole[end] === BLANK) end = whole.indexOf(LINE_END, end) + 1;
  }
  whole.reverse();
  let start = 0;
  for (const end of ends) {
    whole.subarray(whole.length - end, whole.length - start).reverse();
    start = end;
  }
  return whole;
}
