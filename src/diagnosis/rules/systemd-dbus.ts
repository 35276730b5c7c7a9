import { formatDuration } from '../../formats/duration.ts';
import type { Facts, Process } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';

/** runc talks to systemd in these, where the cgroups are systemd's. */
const COMMANDS = new Set(['create', 'kill', 'delete', 'events', 'update']);
const OLD_MS = 10_000;

export const systemdDbus = defineRule({
  id: 'systemd-dbus',
  title: 'runc waits for systemd',
  kind: 'stall',
  needs: ['processes', 'threads'],
  *judge(facts) {
    if (!hasSystemdCgroups(facts) || isFrozen(facts)) return;
    const waiting = [...facts.processes.byPid.values()].filter(
      process => isOldRunc(process) && waitsIdly(process, facts),
    );
    const manager = facts.processes.byPid.get(1);
    const busy = manager !== undefined && /^[RD]/.test(manager.stat) ? manager : null;
    const said = facts.logs?.counts.get('dbus-failed')?.examples.at(-1) ?? null;
    // Any runc that waits idly may wait for anything: systemd must be seen to be in trouble too.
    if (waiting.length === 0 || (busy === null && said === null)) return;
    const oldest = waiting.reduce((one, other) => ((other.ageMs ?? 0) > (one.ageMs ?? 0) ? other : one));
    const ageMs = oldest.ageMs ?? 0;
    yield {
      verdict: verdictAt(ageMs, busy !== null && said !== null ? 'proved' : 'likely'),
      says: `${waiting.length} runc ${waiting.length === 1 ? 'process waits' : 'processes wait'} for systemd, the oldest for ${formatDuration(ageMs)}${busy === null ? '' : `, and PID 1 is busy (${busy.stat})`}: every create, kill and delete of the node goes through it.`,
      because: [
        ...waiting.slice(0, 3).map(({ cite }) => cite),
        ...(busy === null ? [] : [busy.cite]),
        ...(said === null ? [] : [said.cite]),
      ],
      next: next(busy),
      ageMs,
      ageFrom: `the age of process ${oldest.pid} in node/processes.txt`,
      links: waiting.map(({ pid }): Finding['links'][number] => ({
        says: `runc ${pid} waits for systemd`,
        about: [`process:${pid}`],
        waitsFor: ['process:1'],
      })),
    };
  },
});

function next(busy: Process | null): readonly string[] {
  return [
    'Ask systemd: `systemctl list-jobs`, and `systemctl list-units --state=failed,activating`; thousands of leaked scopes or mount units keep PID 1 busy.',
    busy === null
      ? "Look at PID 1's CPU time over some seconds, and at dbus-daemon's log."
      : 'See what PID 1 does (`perf top -p 1`); mounts and unmounts of many pods make it read mountinfo over and over.',
    'Upgrade systemd and runc: runc from 1.0 on waits for systemd without freezing the container meanwhile.',
  ];
}

/** `cri-containerd-<id>.scope`, `docker-<id>.scope`. */
function hasSystemdCgroups({ containers }: Facts): boolean {
  return (
    containers?.some(({ cgroup }) => cgroup !== null && cgroup !== 'absent' && cgroup.path.endsWith('.scope')) === true
  );
}

/** runc waits for a frozen cgroup too, and that is another kind. */
function isFrozen({ containers, cgroups }: Facts): boolean {
  const freezers = [
    ...(containers ?? []).map(({ cgroup }) => (cgroup === null || cgroup === 'absent' ? null : cgroup.freezer)),
    ...(cgroups?.notable.map(({ freezer }) => freezer) ?? []),
  ];
  return freezers.some(freezer => freezer !== null && freezer.state !== 'THAWED');
}

function isOldRunc({ args, ageMs, stat }: Process): boolean {
  const [program = '', ...words] = args.split(' ');
  return (
    /(?:^|\/)runc$/.test(program) &&
    words.some(word => COMMANDS.has(word)) &&
    (ageMs ?? 0) >= OLD_MS &&
    !/^[DZ]/.test(stat)
  );
}

/** All its threads are where Go's threads idle: it waits for a message. One that waits for a child has `runc init` below it. */
function waitsIdly({ pid, threadsInD }: Process, { threads, processes }: Facts): boolean {
  const own = threads?.all.filter(thread => thread.pid === pid) ?? [];
  const hasChild = (processes?.children.get(pid)?.length ?? 0) > 0;
  return threadsInD === 0 && !hasChild && own.every(({ idle }) => idle);
}
