import { architectureOf } from '../../formats/proc/syscall-names.ts';
import type { Host } from '../../host/port.ts';
import type { RuntimeDaemon } from '../../sandbox/types.ts';
import { lookUntilFree, whyNotWriting } from '../signal/containerd-side.ts';
import { type Descriptor, descriptorsOf } from '../signal/descriptors.ts';
import { findReader, findSink } from '../signal/find-sink.ts';
import { whyHung } from '../signal/hung-reader.ts';
import { lookUntilClear } from '../signal/read-shim.ts';
import type { DaemonReading } from './daemon-guards.ts';
import type { DumpPlace } from './dump-files.ts';

const ITEM_MS = 500;
const DESCRIPTORS_MS = 800;

/** All that the guards judge, the threads last. */
export async function readDaemon(host: Host, daemon: RuntimeDaemon, place: DumpPlace): Promise<DaemonReading> {
  const { pid } = daemon;
  const [exe, directory] = await host.readRisky(
    [
      { path: `/proc/${pid}/exe`, what: 'link' },
      { path: place.directory, what: 'stat' },
    ],
    { deadlineMs: 3 * ITEM_MS, itemMs: ITEM_MS },
  );
  const [descriptors] = await descriptorsOf(host, [pid], DESCRIPTORS_MS);
  const { words, stuck } = await logOf(host, daemon, descriptors ?? null);
  return {
    daemon,
    exe: exe ?? { outcome: 'timeout', body: Buffer.alloc(0) },
    directory: { path: place.directory, outcome: directory?.outcome ?? 'timeout' },
    log: words,
    stuckLog: stuck,
    looks: await lookUntilClear(host, pid),
    architecture: architectureOf(process.arch),
  };
}

/** Where its standard error leads, and why nothing gets through to there. */
async function logOf(
  host: Host,
  daemon: RuntimeDaemon,
  descriptors: readonly Descriptor[] | null,
): Promise<{ readonly words: string; readonly stuck: string | null }> {
  const { kind: name, pid, root } = daemon;
  if (descriptors === null) return { words: '', stuck: 'its descriptors could not be read' };
  const { words, hung } = await findSink(host, { pid, root, name }, 2, descriptors);
  const stderr = descriptors.find(({ fd }) => fd === 2)?.target ?? '';
  const reader = /^pipe:\[\d+\]$/.test(stderr) ? await findReader(host, stderr, pid) : undefined;
  if (reader === null) return { words, stuck: `nobody was found who reads its standard error, ${stderr}` };
  const held = reader === undefined ? null : await whyHung(host, reader.pid, 'the reader of its standard error');
  return { words, stuck: hung ?? held ?? whyNotWriting({ daemon, looks: await lookUntilFree(host, pid) }) };
}
