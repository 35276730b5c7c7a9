import { formatDuration } from '../../formats/duration.ts';
import { isInside } from '../../formats/goroutines/goroutine.ts';
import type { DaemonFacts, DaemonGoroutines, Facts, GoroutineFact, LogEvent, Process } from '../facts.ts';
import { defineRule, type Finding, MIN_STALL_MS, verdictAt } from '../rule.ts';

/** libcni runs a plugin and waits for it (containernetworking/cni invoke/raw_exec.go). */
const IN_A_PLUGIN = ['os/exec.(*Cmd).Run', '(*RawExec).ExecPlugin'];
/** Where plugins lie, and those that are known by name. */
const PLUGIN =
  /\/cni\/|\/(?:calico|cilium-cni|aws-cni|azure-vnet|flannel|multus|multus-shim|bridge|ptp|ipvlan|macvlan|portmap|loopback|host-local|weave-net|kube-ovn|antrea)(?: |$)/;
/** Children of containerd that are none. */
const OWN =
  /(?:^|\/)(?:containerd-shim[^\s/]*|runc|unpigz|igzip|ctd-decoder|iptables[^\s/]*|containerd)(?: |$)|\/nri\//;

export const cniBlamed = defineRule({
  id: 'cni-blamed',
  title: 'containerd waits for a network plugin, not for the shim',
  kind: 'stall',
  needs: ['processes', 'daemons'],
  *judge(facts) {
    if (facts.goroutines?.some(({ idle }) => !idle) === true) return;
    for (const daemon of facts.daemons) {
      if (daemon.kind === 'containerd' && daemon.ofTarget !== false) yield* pluginsOf(daemon, facts);
    }
  },
});

function* pluginsOf(daemon: DaemonFacts, facts: Facts): Iterable<Finding> {
  const dump = facts.daemonGoroutines?.findLast(({ pid }) => pid === daemon.pid) ?? null;
  const waiting = dump?.all.filter(goroutine => isInside(goroutine, IN_A_PLUGIN)) ?? [];
  const children = (facts.processes?.children.get(daemon.pid) ?? []).filter(child =>
    isPlugin(child, waiting.length > 0),
  );
  const plugin = children.toSorted((a, b) => (b.ageMs ?? 0) - (a.ageMs ?? 0))[0];
  // With a dump it must be in it: the process may be any other child.
  if (plugin === undefined || (dump?.complete === true && waiting.length === 0)) return;
  yield findingOf(daemon, plugin, dump, waiting, facts);
}

function isPlugin({ args, ageMs, stat }: Process, isWaitedFor: boolean): boolean {
  return (ageMs ?? 0) >= MIN_STALL_MS && !stat.startsWith('Z') && !OWN.test(args) && (isWaitedFor || PLUGIN.test(args));
}

function findingOf(
  daemon: DaemonFacts,
  plugin: Process,
  dump: DaemonGoroutines | null,
  waiting: readonly GoroutineFact[],
  facts: Facts,
): Finding {
  const ageMs = plugin.ageMs ?? 0;
  const asked = outstanding(facts);
  const [goroutine] = waiting;
  const isForThisPod = asked !== null && waiting.length === 1;
  const name = plugin.args.split(' ').slice(0, 2).join(' ');
  return {
    verdict: verdictAt(ageMs, isForThisPod ? 'proved' : 'likely'),
    says: `containerd ${daemon.pid} has been waiting ${formatDuration(ageMs)} for its network plugin (process ${plugin.pid}, ${name})${isForThisPod ? '' : ', for this pod or another'}; the pod's shim has nothing to do with it.`,
    because: [
      plugin.cite,
      ...(goroutine === undefined ? [] : [goroutine.cite]),
      ...(asked === null ? [] : [asked.cite]),
    ],
    next: [
      `Look into the plugin: its own log, its daemon (calico-node, cilium-agent, aws-node …), the stack of ${plugin.pid}, and whether the API server answers it.`,
      ...(dump === null ? ["Take containerd's goroutines too (`--daemons`): they show that it waits in libcni."] : []),
      'The environment of the plugin (CNI_CONTAINERID) says which pod it works for; stallcap does not read environments.',
    ],
    ageMs,
    ageFrom: `the age of process ${plugin.pid} in node/processes.txt`,
    links: [
      {
        says: `containerd ${daemon.pid} waits for network plugin ${plugin.pid}, ${formatDuration(ageMs)}`,
        about: [
          `daemon:${daemon.pid}`,
          ...(goroutine === undefined ? [] : [`goroutine:${daemon.pid}:${goroutine.id}` as const]),
        ],
        waitsFor: [`process:${plugin.pid}`],
      },
    ],
  };
}

/** A request to run or stop this sandbox that has not come back, as far as the log says. */
function outstanding({ logs, target }: Facts): LogEvent | null {
  const own =
    logs?.events.filter(({ container, ids }) => container === target.sandboxId || ids.some(id => target.ids.has(id))) ??
    [];
  const asked = own.findLast(({ kind }) => kind === 'sandbox-run-requested' || kind === 'stop-requested');
  const over = own.findLast(
    ({ kind, message }) => kind === 'create-failed' || kind === 'kill-wait-failed' || /returns/.test(message),
  );
  return asked === undefined || (over?.time ?? 0) > (asked.time ?? 0) ? null : asked;
}
