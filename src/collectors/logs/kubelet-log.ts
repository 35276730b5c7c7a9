import type { Capture, Collector } from '../collector.ts';
import { logOf } from './daemon-log.ts';

/** The kubelet itself, or the program that has it inside: k3s and microk8s run it as a thread of theirs. */
const PROGRAMS = ['kubelet', 'hyperkube', 'k3s-server', 'k3s-agent', 'kubelite'];
const PLACES = [
  '/var/lib/rancher/rke2/agent/logs/kubelet.log',
  '/var/log/kubelet.log',
  '/var/log/kubernetes/kubelet.log',
  '/var/log/k3s.log',
];

/** What the kubelet waits for: PLEG, StopPodSandbox, volumes that it cannot unmount. */
export const kubeletLog: Collector = {
  name: 'kubelet-log',
  phase: 'linger',
  deadlineMs: 12_000,
  async *collect(capture) {
    const found = findKubelet(capture);
    if (found === null) {
      const detail = 'no kubelet runs on this node';
      yield { path: 'logs/kubelet.log', source: 'kubelet', outcome: 'absent', body: Buffer.alloc(0), detail };
      return;
    }
    yield* logOf(capture, 'logs/kubelet.log', { ...found, root: null, places: PLACES });
  },
};

/** By comm, which no process can make hang. */
function findKubelet({ host }: Capture): { readonly name: string; readonly pid: number } | null {
  const processes = host
    .pids()
    .map(pid => ({ pid, name: host.read(`/proc/${pid}/comm`).body.toString('utf8').trim() }));
  for (const program of PROGRAMS) {
    const found = processes.find(({ name }) => name === program);
    if (found !== undefined) return found;
  }
  return null;
}
