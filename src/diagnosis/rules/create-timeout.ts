import { formatDuration } from '../../formats/duration.ts';
import { nameOf } from '../exits.ts';
import type { Facts, GoroutineFact, LogEvent, LogKind } from '../facts.ts';
import { defineRule, type Finding, type Part, verdictAt } from '../rule.ts';
import { type RuncChild, runcChildren } from '../runc-children.ts';
import { standstill } from '../standstill.ts';

const FAILED: readonly LogKind[] = ['create-failed', 'start-failed', 'deadline-exceeded'];
const ASKED: ReadonlySet<LogKind> = new Set(['create-requested', 'start-requested', 'sandbox-run-requested']);

export const createTimeout = defineRule({
  id: 'create-timeout',
  title: 'The kubelet gave up on a create or start that still hangs',
  kind: 'stall',
  needs: ['logs'],
  needsOneOf: ['processes', 'goroutines'],
  *judge(facts) {
    const byContainer = Map.groupBy(timeouts(facts), ({ container }) => container);
    for (const [container, failures] of byContainer) {
      const last = failures.at(-1);
      const work = last === undefined ? null : stillThere(container, facts);
      if (last !== undefined && work !== null) yield findingOf(container, last.failure, work, facts);
    }
  },
});

/**
 * Starts of this pod's containers that ran into the deadline of the request. When a start fails containerd takes the container's
 * bundle away, so its id is known from lines that name it together with the sandbox.
 */
function timeouts({ logs, target }: Facts): readonly { readonly container: string; readonly failure: LogEvent }[] {
  const events = logs?.events ?? [];
  const ids = new Set([
    ...target.ids,
    ...events.filter(event => event.ids.some(id => target.ids.has(id))).flatMap(event => event.ids),
  ]);
  const others = FAILED.flatMap(kind => logs?.counts.get(kind)?.examples ?? []);
  const failed = [
    ...new Map(
      [...events, ...others].filter(isTimeout).map(event => [`${event.cite.entry}:${event.cite.line}`, event]),
    ).values(),
  ];
  return failed.flatMap(failure => {
    const container =
      failure.container ??
      failure.ids.find(id => ids.has(id) && id !== target.sandboxId) ??
      failure.ids.find(id => ids.has(id));
    return container === undefined ? [] : [{ container, failure }];
  });
}

/** Of the request itself. A deadline of CNI or of a single call may only echo a context that was dead already. */
function isTimeout({ kind, message, error }: LogEvent): boolean {
  const text = `${message} ${error ?? ''}`;
  return (
    FAILED.includes(kind) &&
    /DeadlineExceeded|deadline exceeded/.test(text) &&
    /CreateContainer|StartContainer|RunPodSandbox|create (?:containerd|shim) task/.test(text)
  );
}

/** What goes on though nobody waits for it any more: a runc, or a Create in the shim that has not got as far as that. */
interface Work {
  readonly runc: RuncChild | null;
  readonly create: { readonly goroutine: GoroutineFact; readonly shimPid: number } | null;
}

function stillThere(container: string, facts: Facts): Work | null {
  const runc = runcChildren(facts).find(
    ({ command, row }) => (command === 'create' || command === 'start') && row?.args.includes(container) === true,
  );
  if (runc !== undefined) return { runc, create: null };
  for (const { all, shimPid } of facts.goroutines ?? []) {
    const goroutine = all.find(
      ({ rpc, frames }) => rpc === 'Create' && frames.some(({ function: name }) => name.endsWith('.NewContainer')),
    );
    if (goroutine !== undefined) return { runc: null, create: { goroutine, shimPid } };
  }
  return null;
}

function findingOf(id: string, failure: LogEvent, { runc, create }: Work, facts: Facts): Finding {
  const { containers, logs, capture, threads } = facts;
  const asked = logs?.events.findLast(
    ({ kind, time, ids }) => ASKED.has(kind) && ids.includes(id) && time !== null && time <= (failure.time ?? 0),
  );
  const thread = threads?.all.find(({ tid }) => tid === create?.goroutine.tid);
  const stood = thread === undefined ? null : standstill(thread);
  const workMs = runc?.row?.ageMs ?? stood?.ageMs ?? null;
  const ageMs = asked?.time == null ? workMs : Math.round(Math.max(0, capture.startedAt - asked.time));
  // What was begun after the failure belongs to the next attempt.
  const isTheSame = workMs !== null && failure.time !== null && capture.startedAt - workMs <= failure.time;
  const waited =
    asked?.time == null || failure.time === null ? '' : ` after ${formatDuration(failure.time - asked.time)}`;
  const what =
    runc === null
      ? `shim ${create?.shimPid} is still in ${create?.goroutine.rpc}`
      : `runc ${runc.command} ${runc.pid} is still there`;
  const waitsFor: readonly Part[] =
    create === null ? [`process:${runc?.pid ?? 0}`] : [`goroutine:${create.shimPid}:${create.goroutine.id}`];
  return {
    verdict: verdictAt(ageMs, isTheSame ? 'proved' : 'likely'),
    says: `The start of ${nameOf(containers?.find(container => container.id === id) ?? { id, kind: 'container', name: null })} ran into its deadline${waited}, and ${what}: the next attempts fail until that is through.`,
    because: [
      failure.cite,
      ...(asked === undefined ? [] : [asked.cite]),
      ...(runc?.row == null ? [] : [runc.row.cite]),
      ...(create === null ? [] : [create.goroutine.cite]),
    ],
    next: [
      'Look for what the create waits for: the findings about runc, mounts and disks of this report.',
      "The deadline is the kubelet's runtimeRequestTimeout, 2 min unless it is set: a longer one only hides a slow disk.",
      '`failed to reserve container name` in the next attempts means that the first one still runs; it goes away with it.',
    ],
    ageMs,
    ageFrom:
      ageMs === null
        ? null
        : asked?.time == null
          ? (stood?.ageFrom ?? `the age of process ${runc?.pid} in node/processes.txt`)
          : `${asked.kind} in ${asked.cite.entry}`,
    links: [
      {
        says: `the start of container ${id.slice(0, 12)} ran into its deadline${waited}`,
        about: [`belief:${id}`],
        waitsFor: [`task:${id}`, ...waitsFor],
      },
    ],
  };
}
