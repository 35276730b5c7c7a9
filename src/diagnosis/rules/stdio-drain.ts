import { isInside } from '../../formats/goroutines/goroutine.ts';
import { believedRunning, type Exit, exitOf, hasEnded, nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, GoroutineFact, Holder, ShimGoroutines } from '../facts.ts';
import { defineRule, type Finding, type Part, type Verdict, verdictAt } from '../rule.ts';
import { isOlder } from '../versions.ts';

/** Init.delete and execProcess.delete wait for the end of the output first; before 1.3 without any limit (pkg/process/{init,exec}.go). */
const DRAINING: readonly (readonly string[])[] = [
  ['waitTimeout', '(*Init).delete'],
  ['waitTimeout', '(*execProcess).delete'],
  ['sync.(*WaitGroup).Wait', '(*Init).delete'],
  ['sync.(*WaitGroup).Wait', '(*Init).Delete'],
];
/** containerd 2.1.9 was seen to wait for it itself, without a limit, before it asks the shim (client/task.go Delete). */
const CONTAINERD_DRAINING = ['(*ContainerIO).Wait', '(*task).Delete'];

/** The shim's copies of output: one for stdout, one for stderr of each container without a terminal (process/io.go copyPipes). */
const COPY = /\.copyPipes\.func\d\.1$/;
/**
 * A copy that cannot go on because nobody reads the container's log. It may be that of this container, and the drain waits for that
 * then, or a neighbour's: dumps do not say whose a copy is.
 */
const UNREAD = ['poll.(*FD).Write', '(*fifo).Write', 'io.CopyBuffer'];

export const stdioDrain = defineRule({
  id: 'stdio-drain',
  title: 'A dead container is not deleted before its output has ended',
  kind: 'stall',
  needs: ['goroutines'],
  *judge(facts) {
    for (const dump of facts.goroutines) {
      const drain = drainOf(dump, facts);
      if (drain !== null) yield findingOf(dump, drain, facts);
    }
  },
});

interface Drain {
  /** Who waits, or a copy that has not ended. */
  readonly goroutine: GoroutineFact;
  /** Whose output it is; null when several may be. */
  readonly container: ContainerFacts | null;
  readonly exit: Exit | null;
  /** What it is without and with the holder. */
  readonly verdict: Verdict;
}

function drainOf(dump: ShimGoroutines, facts: Facts): Drain | null {
  const own = facts.containers?.filter(({ shimPid }) => shimPid === dump.shimPid) ?? [];
  const ended = own.filter(hasEnded);
  const container = ended.length === 1 ? (ended[0] ?? null) : null;
  const exit = container === null ? null : exitOf(container, facts);
  const waiting = dump.all.find(goroutine => DRAINING.some(calls => isInside(goroutine, calls)));
  // A drain of 2 s is over before it is a stall: with these versions something else makes the container wait.
  if (waiting !== undefined) {
    return {
      goroutine: waiting,
      container,
      exit,
      verdict: drainsShortly(facts.capture.versions.containerd) ? 'possible' : 'likely',
    };
  }
  const [copy, ...others] = dump.all.filter(({ frames }) => frames.some(({ function: name }) => COPY.test(name)));
  const alive = own.filter(other => other.kind === 'container' && !hasEnded(other)).length;
  const isLeft = copy !== undefined && others.length >= 2 * alive;
  if (!isLeft || !dump.idle || container === null || exit === null || believedRunning(container) === null) return null;
  const inContainerd = facts.daemonGoroutines
    ?.flatMap(({ all }) => all)
    .find(goroutine => isInside(goroutine, CONTAINERD_DRAINING));
  return { goroutine: inContainerd ?? copy, container, exit, verdict: 'likely' };
}

function findingOf(
  { shimPid, all }: ShimGoroutines,
  { goroutine, container, exit, verdict }: Drain,
  facts: Facts,
): Finding {
  const holder = holderOf(shimPid, facts);
  const isUnread = holder === null && all.some(other => isInside(other, UNREAD));
  const who = holder === null ? 'somebody' : `process ${holder.pid} (${holder.comm})`;
  const whole = verdict === 'likely' && holder !== null ? 'proved' : verdict;
  const task: readonly Part[] = container === null ? [] : [`task:${container.id}`];
  const isShims = all.includes(goroutine);
  return {
    verdict: isUnread ? 'possible' : verdictAt(exit?.ageMs ?? null, whole),
    says: `${who} still holds the output of ${container === null ? 'a container' : nameOf(container)} open, whose process has ended${isUnread ? ', or nobody reads its log' : ''}; it is not deleted before the output ends, and CRI says running until then.`,
    because: [goroutine.cite, ...(holder === null ? [] : [holder.cite]), ...(exit === null ? [] : [exit.cite])],
    next: [
      holder === null
        ? 'Find who holds the pipe: its number stands in shim/fd.txt; look for it in /proc/*/fd of the node.'
        : `End process ${holder.pid}, or see to it that it does not inherit the container's output.`,
      'Let what a container starts in the background have its output elsewhere (`>/dev/null 2>&1`).',
      'The shim waits 2 s at each attempt, and 10 s from containerd 1.7.29, 2.0.7, 2.1.5 and 2.2.0 on, which is all that CRI gives it: see containerd issue 13377.',
    ],
    ageMs: exit?.ageMs ?? null,
    ageFrom: exit?.ageFrom ?? null,
    links: [
      {
        says: `${isShims ? `shim ${shimPid}` : 'containerd'} goroutine ${goroutine.id} waits for the end of the output`,
        about: isShims ? [`goroutine:${shimPid}:${goroutine.id}`, ...task] : task,
        waitsFor: holder === null ? [] : [`process:${holder.pid}`],
      },
    ],
  };
}

/** Who has the write end of a pipe that the shim reads, and is no container of the pod that still runs. */
function holderOf(shimPid: number, { shims, holders, containers, threads }: Facts): Holder | null {
  const fds = shims?.find(({ pid }) => pid === shimPid)?.descriptors ?? new Map<number, string>();
  const pipes = [...fds.values()].flatMap(target => /^pipe:\[(\d+)\]$/.exec(target)?.[1] ?? []);
  const running = new Map(
    containers?.filter(container => !hasEnded(container)).map(({ id, initPid }) => [id, initPid]),
  );
  const inits = new Set(running.values());
  const ofRunning = (pid: number) =>
    inits.has(pid) || threads?.all.some(thread => thread.pid === pid && running.has(thread.container ?? '')) === true;
  const found = pipes.flatMap(pipe => holders?.pipeWriters.get(Number(pipe)) ?? []);
  return found.find(({ pid }) => pid !== shimPid && !ofRunning(pid)) ?? null;
}

/** 2 s up to 1.7.28, 2.0.6 and 2.1.4 (containerd commit 71f5d16aa made it 10 s). An unknown version may have either. */
function drainsShortly(version: string | null): boolean {
  const firstLong = /^v?2\.0\./.test(version ?? '') ? '2.0.7' : /^v?2\.1\./.test(version ?? '') ? '2.1.5' : '1.7.29';
  return isOlder(version, firstLong) === true;
}
