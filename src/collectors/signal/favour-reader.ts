import type { Host } from '../../host/port.ts';
import { PRIORITY_MS } from './dump-times.ts';
import type { SignalLog } from './signal-log.ts';

/** What gives our reader the whole dump beside a containerd that reads the same fifo. Each goes without where its program is not there. */
export async function favourReader(host: Host, readerPid: number, fifo: string, log: SignalLog): Promise<void> {
  await Promise.all([goFirst(host, readerPid, log), widen(host, fifo, log)]);
}

/**
 * Of two readers that sleep on one pipe the one that runs first gets the bytes. With real-time priority ours had 20 of 20
 * dumps beside a containerd that reads, without it 3 to 10. It sleeps until there is something to read, and ends with the dump.
 */
async function goFirst(host: Host, readerPid: number, log: SignalLog): Promise<void> {
  const argv = ['chrt', '--all-tasks', '--fifo', '--pid', '1', String(readerPid)];
  const { exitCode, outcome, detail, stderr } = await host.run({ argv, timeoutMs: PRIORITY_MS });
  const why = [outcome, detail, stderr.toString().trim()].filter(Boolean).join(', ');
  log.step('real-time priority for our reader', exitCode === 0 ? 'ok' : why);
}

/** All that a process may ask for without CAP_SYS_RESOURCE (/proc/sys/fs/pipe-max-size). */
const WIDE_BYTES = 1 << 20;
/** fcntl(2) F_SETPIPE_SZ, 1031; Node cannot call it, and util-linux has pipesz since 2.39 alone. O_NONBLOCK: it waits for nobody. */
const WIDEN = `use Fcntl; sysopen(my $pipe, $ARGV[0], O_RDONLY | O_NONBLOCK) or die $!; fcntl($pipe, 1031, $ARGV[1] + 0) or die $!`;

/**
 * A dump that is larger than the pipe comes in pieces, and after each of them the other reader has its chance again: 4 of 15 dumps
 * of 250 kB had a hole. A wider pipe takes it whole, under one lock, and gives it so: none of 20. It stays as wide.
 */
async function widen(host: Host, fifo: string, log: SignalLog): Promise<void> {
  const argv = ['perl', '-e', WIDEN, fifo, String(WIDE_BYTES)];
  const { exitCode, outcome, detail, stderr } = await host.run({ argv, timeoutMs: PRIORITY_MS });
  const why = [outcome, detail, stderr.toString().trim()].filter(Boolean).join(', ');
  log.step('widen the pipe from 64 KiB to 1 MiB', exitCode === 0 ? 'ok' : why);
}
