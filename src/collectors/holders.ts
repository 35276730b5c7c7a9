import type { Evidence } from '../bundle/evidence.ts';
import { escapeColumn, escapeLine } from '../formats/escape.ts';
import type { FileRequest, FileResult } from '../host/port.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, namesIn } from './evidence-of.ts';

/** Some 35 us for each link, in a probe, while the samples are waited for: two seconds at most. A containerd has some thousand. */
const MAX_PROCESSES = 8000;
const MAX_LINKS = 60_000;
const MAX_OF_ONE = 8000;
const MAX_NAMESPACES = 64;
const BATCH = 2000;

/**
 * node/holders.txt: who has the write end of a pipe open that the pod's shim reads, and who has the rootfs of a container of the pod as
 * cwd, as root, open, or mounted in a namespace of its own. Only where a container has ended: that is when its shim waits for them.
 *
 *     4711 sleep fd 1 w pipe:[81273]
 *     4712 bash cwd /run/containerd/io.containerd.runtime.v2.task/k8s.io/c1…/rootfs
 *     812 node-agent mount /run/containerd/io.containerd.runtime.v2.task/k8s.io/c1…/rootfs in mnt:[4026532310]
 */
export const holders: Collector = {
  name: 'holders',
  phase: 'samples',
  deadlineMs: 4000,
  targets: ['sandbox'],
  async *collect(capture) {
    const ended = endedContainers(capture);
    if (ended.length === 0) return;
    const pipes = await pipesOf(capture);
    const pids = capture.host.pids();
    const looked = pids.slice(0, MAX_PROCESSES);
    const search = new Search(capture, pipes, ended);
    const whole = await search.processes(looked);
    await search.namespaces();
    yield evidenceFrom(search, whole && looked.length === pids.length);
  },
};

function evidenceFrom({ lines, looked }: Search, whole: boolean): Evidence {
  const source = `/proc/*/{fd/*,cwd,root,mountinfo}: ${looked} links`;
  const body = Buffer.from(lines.join(''));
  const entry = { path: 'node/holders.txt', source, body };
  if (!whole)
    return { ...entry, outcome: 'truncated', detail: 'more processes or descriptors than are looked at in the time' };
  return { ...entry, outcome: lines.length === 0 ? 'empty' : 'ok' };
}

interface Ended {
  readonly id: string;
  readonly bundle: string;
}

/** Gone, or a zombie. */
function endedContainers({ host, target }: Capture): readonly Ended[] {
  if (target.kind !== 'sandbox') return [];
  return target.sandbox.containers.flatMap(({ id, bundle, initPid }) => {
    if (initPid === null || bundle === null) return [];
    const status = host.read(`/proc/${initPid}/status`);
    const isOver = status.outcome === 'gone' || /^State:\s*[ZX]/m.test(status.body.toString());
    return isOver ? [{ id, bundle }] : [];
  });
}

/**
 * Pipes that the shims of the pod read, and have no way to write to: the output of its containers. Of a pipe that came down from
 * whoever started containerd a shim has both ends, or the other one alone.
 */
async function pipesOf(capture: Capture): Promise<ReadonlySet<string>> {
  const directories = await read(
    capture,
    capture.shims.map(({ pid }) => ({ path: `/proc/${pid}/fd`, what: 'dir' })),
  );
  const links = directories.flatMap(directory =>
    namesIn(directory).map((fd): FileRequest => ({ path: `${directory.path}/${fd}`, what: 'link', withStat: true })),
  );
  const open = (await read(capture, links)).filter(({ body }) => body.toString().startsWith('pipe:['));
  const written = new Set(open.filter(mayWrite).map(({ body }) => body.toString()));
  return new Set(open.map(({ body }) => body.toString()).filter(pipe => !written.has(pipe)));
}

/** The mode of the link is what the descriptor may do. */
function mayWrite({ stat }: FileResult): boolean {
  return ((stat?.mode ?? 0) & 0o200) !== 0;
}

function read(capture: Capture, files: readonly FileRequest[]): Promise<readonly FileResult[]> {
  return capture.host.readRisky(files, { ...deadlineOf(capture, 2500), itemMs: 300 });
}

/** One walk over the processes of the node. */
class Search {
  readonly lines: string[] = [];
  looked = 0;
  readonly #capture: Capture;
  readonly #pipes: ReadonlySet<string>;
  readonly #ended: readonly Ended[];
  /** Mount namespace -> a process in it. */
  readonly #byNamespace = new Map<string, number>();
  /** Where the shims are: what is mounted there is what they unmount. */
  readonly #own = new Set<string>();

  constructor(capture: Capture, pipes: ReadonlySet<string>, ended: readonly Ended[]) {
    this.#capture = capture;
    this.#pipes = pipes;
    this.#ended = ended;
  }

  /** @returns whether all of them were looked at */
  async processes(pids: readonly number[]): Promise<boolean> {
    const directories = await read(
      this.#capture,
      pids.map(pid => ({ path: `/proc/${pid}/fd`, what: 'dir' })),
    );
    let whole = directories.every(({ outcome }) => outcome !== 'timeout' && outcome !== 'truncated');
    let batch: FileRequest[] = [];
    for (const [index, pid] of pids.entries()) {
      const directory = directories[index];
      const fds = directory === undefined ? [] : namesIn(directory);
      if (fds.length > MAX_OF_ONE) whole = false;
      for (const name of ['cwd', 'root', 'ns/mnt']) batch.push({ path: `/proc/${pid}/${name}`, what: 'link' });
      for (const fd of fds.slice(0, MAX_OF_ONE)) {
        batch.push({ path: `/proc/${pid}/fd/${fd}`, what: 'link', withStat: true });
      }
      if (batch.length < BATCH && index < pids.length - 1) continue;
      const isOver = this.#capture.signal.aborted || this.#capture.remainingMs() < 200;
      if (isOver || this.looked + batch.length > MAX_LINKS) return false;
      for (const link of await read(this.#capture, batch)) {
        if (link.outcome === 'timeout') whole = false;
        this.#take(link);
      }
      batch = [];
    }
    return whole;
  }

  #take(link: FileResult): void {
    const { path, body, outcome } = link;
    this.looked += 1;
    const [, pid = '', what = ''] = /^\/proc\/(\d+)\/(.*)$/.exec(path) ?? [];
    if (outcome !== 'ok') return;
    const target = body.toString();
    const isShim = this.#capture.shims.some(shim => shim.pid === Number(pid));
    if (what === 'ns/mnt') {
      if (!this.#byNamespace.has(target)) this.#byNamespace.set(target, Number(pid));
      if (isShim) this.#own.add(target);
      return;
    }
    // Both ends of a pipe of its own say nothing.
    if (isShim) return;
    const how = what.replace('/', ' ');
    if (this.#pipes.has(target)) {
      if (mayWrite(link)) this.#add(pid, `${how} w ${target}`);
    } else if (this.#ended.some(({ bundle }) => `${target}/`.startsWith(`${bundle}/rootfs/`)))
      this.#add(pid, `${how} ${escapeLine(target)}`);
  }

  /** A process that was started in its own mount namespace keeps what was mounted then. */
  async namespaces(): Promise<void> {
    const all = [...this.#byNamespace].filter(([namespace]) => !this.#own.has(namespace)).slice(0, MAX_NAMESPACES);
    const files = await read(
      this.#capture,
      all.map(([, pid]) => ({ path: `/proc/${pid}/mountinfo`, maxBytes: 1 << 20 })),
    );
    for (const [index, [namespace, pid]] of all.entries()) {
      for (const line of files[index]?.body.toString().split('\n') ?? []) {
        const point = line.split(' ')[4] ?? '';
        const isRoot = this.#ended.some(({ id }) => point.includes(id) && point.endsWith('/rootfs'));
        if (isRoot) this.#add(String(pid), `mount ${point} in ${namespace}`);
      }
    }
  }

  #add(pid: string, what: string): void {
    const comm = this.#capture.host.read(`/proc/${pid}/comm`).body.toString().replace(/\n$/, '');
    this.lines.push(`${pid} ${escapeColumn(comm)} ${what}\n`);
  }
}
