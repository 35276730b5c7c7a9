import { formatDuration } from '../../formats/duration.ts';
import { hasEnded, nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, Holder, LogEvent } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { isIn } from '../standstill.ts';

/** containerd tries 50 times, 50 ms apart, before it says so once. */
const AGAIN = 2;

/** The unmount is refused at once, and again: somebody has the rootfs open, or mounted in a namespace of his own. */
export const rootfsBusy = defineRule({
  id: 'rootfs-busy',
  title: 'The root filesystem of the container is in use and cannot be unmounted',
  kind: 'stall',
  needs: ['logs'],
  *judge(facts) {
    // A shim that hangs in umount2 is no refusal.
    const hangs = facts.threads?.all.some(
      thread => thread.role === 'shim' && thread.state === 'D' && isIn(thread, 'umount2'),
    );
    if (hangs === true) return;
    for (const container of facts.containers ?? []) {
      const refused = facts.logs.events.filter(event => isRefusal(event) && isAbout(event, container));
      const isOver = hasEnded(container) || container.init === null;
      if (refused.length >= AGAIN && isOver && container.bundle !== 'absent')
        yield findingOf(container, refused, facts);
    }
  },
});

/** `failed to unmount target /run/…/rootfs: device or resource busy`, of the shim, of CRI, or of the kubelet that retells it. */
function isRefusal({ message, error, kind }: LogEvent): boolean {
  const text = `${message} ${error ?? ''}`;
  const isUnmount = kind === 'unmount-failed' || kind === 'bundle-delete-failed' || /unmount|rootfs/i.test(text);
  return isUnmount && /device or resource busy/.test(text);
}

function isAbout({ container, ids }: LogEvent, { id }: ContainerFacts): boolean {
  return container === id || ids.includes(id);
}

function findingOf(container: ContainerFacts, refused: readonly LogEvent[], facts: Facts): Finding {
  const holders = holdersOf(container, facts);
  const times = refused.flatMap(({ time }) => time ?? []);
  const first = times.length === 0 ? null : Math.min(...times);
  const ageMs = first === null ? null : Math.max(0, facts.capture.startedAt - first);
  const [holder] = holders;
  const who = holder === undefined ? 'somebody' : `process ${holder.pid} (${holder.comm}, ${holder.how})`;
  return {
    verdict: verdictAt(ageMs, holder === undefined ? 'likely' : 'proved'),
    says: `The root filesystem of ${nameOf(container)} cannot be unmounted because ${who} uses it: refused ${refused.length} times${ageMs === null ? '' : `, first ${formatDuration(ageMs)} before the capture`}.`,
    because: [
      ...refused.slice(0, 1).map(({ cite }) => cite),
      ...(refused.length > 1 ? refused.slice(-1).map(({ cite }) => cite) : []),
      ...holders.slice(0, 3).map(({ cite }) => cite),
    ],
    next: [
      holder === undefined
        ? `Find who has it: \`grep -l ${container.id.slice(0, 12)} /proc/*/mountinfo\`, and cwd, root and fd of all processes (\`ls -l /proc/*/{cwd,root,fd}\`).`
        : `End process ${holder.pid}, or let it leave the directory: the unmount is tried again and then succeeds.`,
      'Usual holders: a monitoring or security agent that has /var/lib/containerd or /run mounted without `mountPropagation: HostToContainer`, or a shell that somebody left open.',
    ],
    ageMs,
    ageFrom: ageMs === null ? null : `the first refusal in ${refused[0]?.cite.entry}`,
    links: [
      {
        says: `the unmount of the rootfs of ${container.name ?? container.id.slice(0, 12)} is refused: busy`,
        about: [`task:${container.id}`],
        waitsFor: holder === undefined ? [] : [`process:${holder.pid}`],
      },
      ...(holder === undefined
        ? []
        : [{ says: `${who} uses it`, about: [`process:${holder.pid}` as const], waitsFor: [] }]),
    ],
  };
}

/** Of the mount below its bundle, or of the layer; its own processes are gone by now. */
function holdersOf({ id }: ContainerFacts, { holders }: Facts): readonly Holder[] {
  return [...(holders?.mounts ?? [])].flatMap(([point, all]) => (point.includes(id) ? all : []));
}
