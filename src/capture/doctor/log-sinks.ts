import { descriptorsOf } from '../../collectors/signal/descriptors.ts';
import { findSink } from '../../collectors/signal/find-sink.ts';
import type { Host } from '../../host/port.ts';
import type { RuntimeDaemon } from '../../sandbox/types.ts';
import { type Check, lacks, ok, warn } from './check.ts';

const READ_MS = 1500;

/** Where each containerd writes what it reads from its shims: a goroutine dump has to come out there. */
export async function logSinks(host: Host, daemons: readonly RuntimeDaemon[]): Promise<readonly Check[]> {
  const containerds = daemons.filter(({ kind }) => kind === 'containerd');
  if (containerds.length === 0) return [warn('containerd', 'No containerd runs here.')];
  const checks: Check[] = [];
  for (const daemon of containerds) checks.push(await sinkOf(host, daemon));
  return checks;
}

async function sinkOf(host: Host, daemon: RuntimeDaemon): Promise<Check> {
  const [descriptors] = await descriptorsOf(host, [daemon.pid], READ_MS);
  if (!descriptors) return lacks('log-sink', `Descriptors of containerd ${daemon.pid} could not be read.`);
  const sink = await findSink(host, daemon, 2, descriptors);
  if (sink.hung !== null) return lacks('log-sink', `${sink.words}: ${sink.hung}`);
  if (sink.kind !== 'none') return ok('log-sink', sink.words);
  return warn('log-sink', `${sink.words}: nothing can be read back from there, so a dump is read beside containerd.`);
}
