import { formatDuration } from '../../formats/duration.ts';
import { hasEnded } from '../exits.ts';
import type { Facts, FirstLook, ShimFacts, Thread } from '../facts.ts';
import { defineRule, type Finding, type Part, verdictAt } from '../rule.ts';
import { frameOf, isIn, standstill } from '../standstill.ts';

/** Kernels have called it pipe_wait, pipe_write and anon_pipe_write. */
const PIPE_WRITE = /^(?:anon_)?pipe_(?:write|wait)$/;

export const shimWedged = defineRule({
  id: 'shim-wedged',
  title: 'The shim itself is held: stopped, or blocked on its log',
  kind: 'stall',
  needs: ['threads', 'shims'],
  *judge(facts) {
    for (const shim of facts.shims) {
      const own = facts.threads.all.filter(({ pid, role }) => pid === shim.pid && role === 'shim');
      yield* stopped(shim, own, facts);
      const writer = own.find(
        thread => isPipeWrite(thread) && writesLog(thread, shim) !== false && standstill(thread) !== null,
      );
      if (writer !== undefined) yield blockedOnLog(shim, writer, facts);
      else yield* freedByUs(shim, facts);
    }
  },
});

/** All its threads are in T (SIGSTOP) or t (a debugger): a single one in t is held by a tracer, and the others go on. */
function* stopped({ pid }: ShimFacts, own: readonly Thread[], { containers }: Facts): Iterable<Finding> {
  const leader = own.find(({ tid }) => tid === pid);
  if (leader === undefined || !own.every(({ state }) => state === 'T' || state === 't')) return;
  const stood = standstill(leader);
  const how = leader.state === 'T' ? 'stopped (SIGSTOP)' : 'held by a debugger';
  const age = stood === null ? '' : ` for ${formatDuration(stood.ageMs)}`;
  // Whatever containerd wants of a container that has ended waits for this shim.
  const tasks = (containers ?? []).filter(container => container.shimPid === pid && hasEnded(container));
  const about: Part[] = [
    `process:${pid}`,
    ...own.map(({ tid }): Part => `thread:${tid}`),
    ...tasks.map(({ id }): Part => `task:${id}`),
  ];
  yield {
    verdict: verdictAt(stood?.ageMs ?? null, stood?.proof === 'looks' ? 'proved' : 'likely'),
    says: `Shim ${pid} is ${how}${age}: it answers nothing, reaps nothing and passes no output on, for all containers of the pod.`,
    because: [...leader.cites],
    next: [
      leader.state === 'T'
        ? `Let it go on with \`kill -CONT ${pid}\` once it is known who stopped it.`
        : `Find the tracer: TracerPid in shim/status.`,
      'Do not restart containerd meanwhile: the shim would not answer it in 5 s and lose its bundle.',
    ],
    ageMs: stood?.ageMs ?? null,
    ageFrom: stood?.ageFrom ?? null,
    links: [{ says: `shim ${pid} is ${how}`, about, waitsFor: [] }],
  };
}

/** A blocking write to a pipe. Output of containers goes through the poller, and never shows so. */
function isPipeWrite(thread: Thread): boolean {
  if (!isIn(thread, 'write')) return false;
  return thread.wchan === null ? frameOf(thread, PIPE_WRITE) !== null : PIPE_WRITE.test(thread.wchan);
}

/** The shim has its log fifo, <bundle>/log, open as descriptor 2 and, for its logger, a second time. Null where fds are unknown. */
function writesLog({ call }: Thread, { descriptors }: ShimFacts): boolean | null {
  const target = descriptors?.get(Number(call?.args[0]));
  return target === undefined ? null : /\/log(?: \(deleted\))?$/.test(target);
}

function blockedOnLog(shim: ShimFacts, writer: Thread, facts: Facts): Finding {
  const stood = standstill(writer);
  const isLog = writesLog(writer, shim);
  const reader = readerOf(facts);
  return {
    ...wedge(shim.pid, writer.tid, stood?.ageMs ?? null, reader),
    verdict: verdictAt(stood?.ageMs ?? null, isLog === true && stood?.proof === 'looks' ? 'proved' : 'likely'),
    because: [...writer.cites, ...(reader === null ? [] : [reader.cite])],
    ageFrom: stood?.ageFrom ?? null,
  };
}

/** This capture has read the fifo to get the dump, which let the writer go on: only the first look still has it. */
function* freedByUs({ pid, firstLook }: ShimFacts, facts: Facts): Iterable<Finding> {
  const writer = firstLook?.find(({ call, wchan }) => call === 'write' && wchan !== null && PIPE_WRITE.test(wchan));
  const signal = facts.signals?.find(
    record => record.pid === pid && record.steps.some(({ result }) => FREED.test(result)),
  );
  if (writer === undefined || signal === undefined) return;
  const reader = readerOf(facts);
  const words = signal.steps.find(({ result }) => FREED.test(result))?.result ?? '';
  const found = wedge(pid, writer.tid, writer.blockedForMs, reader);
  yield {
    ...found,
    verdict: verdictAt(writer.blockedForMs, 'proved'),
    says: `${found.says} Reading the fifo for the dump has freed it; it will block again when nobody reads on.`,
    because: [writer.cite, { ...signal.cite, text: words }, ...(reader === null ? [] : [reader.cite])],
    ageFrom: writer.blockedForMs === null ? null : `the scheduler's clock at the first look: ${agoWords(writer)}`,
  };
}

/** Steps of the ladder that gets the dump (collectors/signal). */
const FREED = /threads? of (?:the shim|its threads)?.{0,200}blocked in a write to (?:a|the) full pipe/;

const agoWords = ({ tid, blockedForMs }: FirstLook) =>
  `thread ${tid} had not run for ${formatDuration(blockedForMs ?? 0)}`;

function wedge(pid: number, tid: number, ageMs: number | null, reader: ReturnType<typeof readerOf>) {
  const age = ageMs === null ? '' : ` for ${formatDuration(ageMs)}`;
  const why =
    reader === null
      ? 'containerd does not read it'
      : `${reader.kind} ${reader.pid}, which should read it, is ${/^[Tt]/.test(reader.stat) ? 'stopped' : 'stuck in D'}`;
  return {
    says: `Thread ${tid} of shim ${pid} has been blocked${age} in a write to its own log, whose pipe is full: ${why}. Whatever else the shim wants to log waits behind it, deletes included.`,
    next: [
      'Make containerd read again (let it go on, or see what its own log hangs on); the shim goes on with the first byte that is read.',
      'Send no more SIGUSR1 to this shim: every dump fills the pipe further. Three or four fit.',
    ],
    ageMs,
    links: [
      {
        says: `thread ${tid} of shim ${pid} blocked in a write to its full log fifo`,
        about: [`process:${pid}` as const, `thread:${tid}` as const],
        waitsFor: reader === null ? [] : [`daemon:${reader.pid}` as const],
      },
    ],
  };
}

/** The containerd that should read, where something is the matter with it. */
function readerOf({ daemons }: Facts) {
  return (
    daemons?.find(
      ({ kind, ofTarget, stat, threadsInD }) =>
        kind === 'containerd' && ofTarget === true && (/^[Tt]/.test(stat) || threadsInD > 0),
    ) ?? null
  );
}
