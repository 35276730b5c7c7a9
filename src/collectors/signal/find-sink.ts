import { parseStatus } from '../../formats/proc/status.ts';
import type { Host } from '../../host/port.ts';
import { insideNamespace } from '../../sandbox/mount-prefix.ts';
import { type Descriptor, descriptorsOf } from './descriptors.ts';
import { findJournald, whyHung } from './hung-reader.ts';
import { type FileSink, type NoSink, placeOf, type Sink } from './sink.ts';

/** One of a process's standard descriptors, and what is open behind it. */
interface Outlet {
  readonly pid: number;
  readonly name: string;
  readonly fd: number;
  readonly descriptors: readonly Descriptor[];
}

const READ_MS = 800;
/** A pipe to a program that writes into a pipe itself is followed no further. */
const MAX_PIPES = 1;

/**
 * Follows containerd's standard error (v1 shims with -debug: standard output) to where it ends: a regular file, the journal,
 * or through a pipe to the program that reads it, and the file that this one keeps (k3s and rke2 do so; `| cat >> file`).
 */
export async function findSink(
  host: Host,
  containerd: { readonly pid: number; readonly root: string | null; readonly name?: string },
  fd: 1 | 2,
  descriptors: readonly Descriptor[],
): Promise<Sink> {
  const outlet = { pid: containerd.pid, name: containerd.name ?? 'containerd', fd, descriptors };
  return follow(
    host,
    outlet,
    containerd.root === null ? null : `${insideNamespace(containerd.root)}/containerd.log`,
    MAX_PIPES,
  );
}

async function follow(host: Host, outlet: Outlet, preferred: string | null, pipesLeft: number): Promise<Sink> {
  const { pid, name, fd, descriptors } = outlet;
  const words = `descriptor ${fd} of ${name} ${pid}`;
  const target = descriptors.find(own => own.fd === fd)?.target;
  if (target === undefined) return lost(`${words} is closed`);
  const place = placeOf(target);
  switch (place.kind) {
    case 'file':
      return fileSink(host, { pid, fd }, place.path, `${words} is ${place.path}`);
    case 'deleted-file':
      return lost(`${words} is ${place.path}, which was deleted`);
    case 'device':
      return lost(`${words} is ${place.path}`);
    case 'socket':
      return journalSink(host, pid, words);
    case 'pipe':
      return pipesLeft > 0
        ? throughPipe(host, target, outlet, preferred, pipesLeft - 1)
        : lost(`${words} is another pipe`);
    case 'other':
      return lost(`${words} is ${place.target}`);
  }
}

const lost = (words: string): NoSink & Sink => ({ kind: 'none', words, hung: null });

async function fileSink(host: Host, writer: FileSink['writer'], path: string, words: string): Promise<Sink> {
  const prefix = await mountPrefix(host, writer.pid);
  const [file] = await host.readRisky([{ path: prefix + path, what: 'stat' }], {
    deadlineMs: READ_MS,
    itemMs: READ_MS,
  });
  const hung = file?.outcome === 'timeout' ? `${path} does not answer` : null;
  return { kind: 'file', writer, prefix, path, before: file?.stat ?? null, words, hung };
}

/** Paths in links of another mount namespace (kind, snaps) are reached through the process's own root. */
async function mountPrefix(host: Host, pid: number): Promise<string> {
  const [own, other] = await host.readRisky(
    [
      { path: '/proc/self/ns/mnt', what: 'link' },
      { path: `/proc/${pid}/ns/mnt`, what: 'link' },
    ],
    { deadlineMs: READ_MS },
  );
  const same = other?.outcome !== 'ok' || own?.body.equals(other.body) === true;
  return same ? '' : `/proc/${pid}/root`;
}

/** A service's stderr is a stream socket that systemd has connected to journald; its other end cannot be told from /proc. */
async function journalSink(host: Host, pid: number, words: string): Promise<Sink> {
  const journald = findJournald(host);
  if (journald === null) return lost(`${words} is a socket, and no systemd-journald runs`);
  const hung = await whyHung(host, journald, 'systemd-journald');
  const root = await mountPrefix(host, journald);
  return { kind: 'journal', pid, root, words: `${words} is a socket of systemd-journald ${journald}`, hung };
}

async function throughPipe(
  host: Host,
  target: string,
  writer: Outlet,
  preferred: string | null,
  pipesLeft: number,
): Promise<Sink> {
  const words = `descriptor ${writer.fd} of ${writer.name} ${writer.pid} is ${target}`;
  const reader = await findReader(host, target, writer.pid);
  if (reader === null) return lost(`${words}, whose reader was not found`);
  const { pid, descriptors } = reader;
  const name = host.read(`/proc/${pid}/comm`).body.toString().trim();
  const hung = await whyHung(host, pid, name);
  const through = (sink: Sink): Sink => ({
    ...sink,
    words: `${words}, read by ${name} ${pid}: ${sink.words}`,
    hung: hung ?? sink.hung,
  });

  const log = logAmong(descriptors, preferred, writer.name);
  if (log !== null) return through(await fileSink(host, { pid, fd: log.fd }, log.target, `which writes ${log.target}`));
  for (const fd of [1, 2]) {
    const sink = await follow(host, { pid, name, fd, descriptors }, null, pipesLeft);
    if (sink.kind !== 'none') return through(sink);
  }
  return through(lost('which keeps no file that was found'));
}

/** The file that k3s and rke2 give to containerd's output lies under its root; other programs name theirs *.log. */
function logAmong(descriptors: readonly Descriptor[], preferred: string | null, program: string): Descriptor | null {
  const files = descriptors.filter(({ target, writes }) => writes && placeOf(target).kind === 'file');
  const named = (test: (path: string) => boolean) => files.find(({ target }) => test(target)) ?? null;
  return (
    named(path => path === preferred) ??
    named(path => path.endsWith('.log') && path.slice(path.lastIndexOf('/') + 1).startsWith(program))
  );
}

/** The parent first, who reads in k3s and rke2; then everybody. */
export async function findReader(host: Host, target: string, writer: number) {
  const parent = parseStatus(host.read(`/proc/${writer}/status`).body.toString()).ppid;
  const others = host.pids().filter(pid => pid !== writer && pid !== parent);
  for (const pids of [parent === null ? [] : [parent], others]) {
    const all = await descriptorsOf(host, pids, READ_MS);
    const index = all.findIndex(own => own?.some(open => open.target === target && open.reads) === true);
    const descriptors = all[index];
    const pid = pids[index];
    if (pid !== undefined && descriptors) return { pid, descriptors };
  }
  return null;
}
