import { formatDuration } from '../../formats/duration.ts';
import { inside } from '../blocked.ts';
import { nameOf } from '../exits.ts';
import { descendants } from '../facts/processes.ts';
import type { Facts, Process, Thread } from '../facts.ts';
import { defineRule, type Finding, type Part, verdictAt } from '../rule.ts';
import { type Standstill, sleepsIn, standstill, threadWords } from '../standstill.ts';

/** kernel/pid_namespace.c: init has been killed, has killed all others of its namespace, and waits until the last of them is gone. */
const LAST_WAIT = 'zap_pid_ns_processes';

export const pidnsNotEmpty = defineRule({
  id: 'pidns-not-empty',
  title: "A process of the container's pid namespace does not end",
  kind: 'stall',
  needs: ['threads'],
  *judge(facts) {
    for (const thread of facts.threads.all) {
      const stood = standstill(thread);
      const frame = inside(thread, LAST_WAIT);
      if (stood !== null && frame !== null && thread.state !== 'Z') yield findingOf(thread, stood, facts);
    }
  },
});

function findingOf(init: Thread, stood: Standstill, facts: Facts): Finding {
  const container = facts.containers?.find(({ id, initPid }) => id === init.container || initPid === init.pid);
  const name = container === undefined ? `process ${init.pid}` : nameOf(container);
  const left = leftIn(init, facts);
  const living = left.filter(({ stat }) => !stat.startsWith('Z'));
  const zombies = left.filter(({ stat }) => stat.startsWith('Z'));
  const held = living[0];
  const thread = held === undefined ? undefined : threadOf(held.pid, facts);
  const frame = inside(init, LAST_WAIT);
  const reaper = held === undefined ? zombies.find(({ ppid }) => ppid !== init.pid) : undefined;
  const end =
    held !== undefined ? livingWords(held, thread) : reaper !== undefined ? zombieWords(zombies, reaper) : null;
  return {
    verdict: verdictAt(stood.ageMs, held !== undefined && stood.proof === 'looks' ? 'proved' : 'likely'),
    says: `Init ${init.pid} of ${name} was killed ${formatDuration(stood.ageMs)} ago and waits for the last process of its pid namespace${end === null ? '' : `: ${end}`}.`,
    because: [
      ...init.cites.slice(-1),
      ...(frame === null ? [] : [frame]),
      ...living.slice(0, 3).map(({ cite }) => cite),
      ...(thread === undefined ? [] : thread.cites.slice(-1)),
      ...(reaper === undefined ? [] : [reaper.cite]),
    ],
    next:
      held === undefined
        ? [
            reaper === undefined
              ? 'Find the processes of that namespace: `lsns -t pid`, then `ps -o pid,stat,wchan,args --pid …`; the one that is no zombie is the cause.'
              : `Take the goroutines of the shim: its reaper (SIGCHLD) does not collect what has ended.`,
          ]
        : [
            `Look at what ${held.pid} waits for, not at init: it has been sent SIGKILL already and will end with that wait.`,
            'Do not force the pod away (`--force` only deletes the object): the processes stay, and so does what they hold.',
          ],
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: [
      {
        says: `init ${init.pid} of ${container?.name ?? 'the container'} waits for its pid namespace to be empty`,
        about: [
          `thread:${init.tid}`,
          `process:${init.pid}`,
          ...(container === undefined ? [] : [`task:${container.id}` as const]),
        ],
        waitsFor: held === undefined ? [] : [`process:${held.pid}`, ...threadPart(thread)],
      },
      ...(held === undefined || thread === undefined
        ? []
        : [
            {
              says: threadWords(thread),
              about: [`process:${held.pid}` as const, `thread:${thread.tid}` as const],
              waitsFor: [],
            },
          ]),
    ],
  };
}

const threadPart = (thread: Thread | undefined): readonly Part[] =>
  thread === undefined ? [] : [`thread:${thread.tid}`];

/** What is left is init's: the kernel gives it every orphan of the namespace. A `runc exec` stays a child of the shim. */
function leftIn(init: Thread, { processes, threads }: Facts): readonly Process[] {
  if (processes === null) return [];
  const below = descendants(processes, init.pid);
  const known = new Set(below.map(({ pid }) => pid));
  const sameContainer = (threads?.all ?? [])
    .filter(({ container, pid }) => init.container !== null && container === init.container && pid !== init.pid)
    .flatMap(({ pid }) => processes.byPid.get(pid) ?? []);
  const execed = sameContainer.filter(({ pid }) => !known.has(pid));
  return [...below, ...new Set(execed)];
}

/** Of its threads the one in D. */
function threadOf(pid: number, { threads, nodeThreads }: Facts): Thread | undefined {
  const own = [...(threads?.all ?? []), ...(nodeThreads?.blocked ?? [])].filter(thread => thread.pid === pid);
  return own.find(({ state }) => state === 'D') ?? own[0];
}

function livingWords({ pid, stat, args }: Process, thread: Thread | undefined): string {
  const place = thread === undefined ? null : sleepsIn(thread);
  return `${pid} (${thread?.comm ?? args.split(' ')[0]}) is still there, in state ${stat.slice(0, 1)}${place === null ? '' : ` in ${place}`}`;
}

function zombieWords(zombies: readonly Process[], { ppid }: Process): string {
  return `only zombies are left (${zombies.map(({ pid }) => pid).join(', ')}), and their parent ${ppid} does not collect them`;
}
