/**
 * Kinds that the lab cannot make: facts out of text that was written by hand, all rules at once. Dumps of containerd (`dump of …`) are
 * captured ones. Counted apart from captures by `npm run eval`.
 */
import type { Facts } from '../../../src/diagnosis/facts.ts';
import type { Expected } from '../../lab/eval/judged.ts';
import {
  CONTAINER_ID,
  callOf,
  containerOf,
  deviceOf,
  devicesOf,
  eventOf,
  factsOf,
  kernelEventOf,
  logsOf,
  podThreads,
  processOf,
  processTable,
  SANDBOX_ID,
  SHIM_PID,
  STARTED_AT,
  shimOf,
  threadOf,
} from '../facts-of.ts';
import { CONTAINERD_PID, containerdDumps, shimDump } from '../judge.ts';
import { COPY_NET_NS, GO_IDLE, JBD2_COMMIT, NFS_STAT, OVER_MEMORY_HIGH, WAITS_FOR_JOURNAL } from '../stacks.ts';

export interface Written {
  readonly kind: string;
  readonly how: string;
  readonly expected: Expected;
  facts(): Facts;
}

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const app = (more: Parameters<typeof threadOf>[0]) =>
  threadOf({ pid: 2700, tid: 2700, comm: 'app', role: 'init', container: CONTAINER_ID, ...more });
const ofNode = (more: Parameters<typeof threadOf>[0]) =>
  threadOf({ role: 'other', moved: 'once', entry: 'node/blocked.txt', ...more });
const kernel = (...events: readonly ReturnType<typeof kernelEventOf>[]) => ({
  events,
  from: STARTED_AT,
  to: STARTED_AT,
});
const believed = {
  ...{ state: 'RUNNING', finishedAt: null, startedAt: STARTED_AT - 900_000, mtime: STARTED_AT - 900_000, pid: 2700 },
  ...{ exitCode: null, reason: null, cite: cited(`containers/${CONTAINER_ID}/status.json`, '"FinishedAt":0') },
} as unknown as Exclude<ReturnType<typeof containerOf>['criStatus'], null | 'absent'>;

export const WRITTEN: readonly Written[] = [
  {
    kind: 'nfs-hang',
    how: 'stat of a file of a hard NFS mount of the pod',
    expected: { rule: 'nfs-hang', atLeast: 'proved' },
    facts: () =>
      factsOf({
        threads: podThreads(app({ stack: NFS_STAT, blockedForMs: 90_000 })),
        mounts: {
          all: [
            {
              ...{ id: 90, device: '0:61', root: '/', type: 'nfs4', source: 'nas:/export', options: [] },
              ...{ superOptions: ['hard'], mountPoint: '/var/lib/kubelet/pods/0d6f/volumes/data', upper: null },
              ...{ volatile: false, ofPod: true, container: null },
              cite: cited('node/mountinfo', '90 27 0:61 / … - nfs4 nas:/export'),
            },
          ],
          ...{ others: 0, chains: [] },
        },
      }),
  },
  {
    kind: 'ext4-journal',
    how: 'the pod waits for the journal, whose thread is in its commit',
    expected: { rule: 'ext4-journal', atLeast: 'proved' },
    facts: () =>
      factsOf({
        threads: podThreads(app({ stack: WAITS_FOR_JOURNAL })),
        nodeThreads: {
          blocked: [ofNode({ pid: 300, tid: 300, comm: 'jbd2/nvme1n1-8', stack: JBD2_COMMIT, blockedForMs: 7000 })],
          stacks: 'all',
        },
        devices: devicesOf(deviceOf()),
      }),
  },
  {
    kind: 'netns',
    how: 'runc waits for a network namespace while the kernel cannot free another',
    expected: { rule: 'netns', atLeast: 'proved' },
    facts: () => {
      const text = 'unregister_netdevice: waiting for lo to become free. Usage count = 1';
      const said = [24_000, 4000].map(agoMs =>
        kernelEventOf({ kind: 'unregister-netdevice', text, time: STARTED_AT - agoMs }),
      );
      const runc = threadOf({ pid: 5834, tid: 5834, comm: 'runc:[1:CHILD]', role: 'runc', stack: COPY_NET_NS });
      return factsOf({ threads: podThreads(runc), kernel: kernel(...said) });
    },
  },
  {
    kind: 'memory-throttled',
    how: 'a container over its memory.high',
    expected: { rule: 'memory-throttled', atLeast: 'likely' },
    facts: () => {
      const cite = cited('node/samples.jsonl', 'memory.pressure: full avg10=88.00 avg60=62.00');
      const share = (full: number) => ({
        some: full,
        full,
        avg10Some: full * 100,
        avg10Full: full * 100,
        avg60Full: full * 70,
        series: [],
        cite,
      });
      const memory = {
        ...{ currentBytes: 401 * 2 ** 20, maxBytes: 512 * 2 ** 20, highBytes: 400 * 2 ** 20, highEventsGrowth: 40 },
        ...{ oomKills: 0, cite },
      };
      return factsOf({
        containers: [
          containerOf({
            cgroup: {
              ...{ path: '/kubepods/pod0d6f/c1', version: 2, freezer: null, pids: null, cpu: null, ioLimits: [] },
              memory,
            },
          }),
        ],
        pressure: {
          node: { io: share(0), memory: share(0), cpu: null },
          pod: new Map([[CONTAINER_ID, { memory: share(0.88), io: share(0), cpu: null }]]),
        },
        threads: podThreads(app({ stack: OVER_MEMORY_HIGH, moved: 'moved', blockedForMs: 700 })),
        devices: devicesOf(deviceOf()),
      });
    },
  },
  {
    kind: 'systemd-dbus',
    how: 'runc delete waits for systemd, which is busy',
    expected: { rule: 'systemd-dbus', atLeast: 'proved' },
    facts: () => {
      const args = `/usr/sbin/runc --root /run/containerd/runc/k8s.io delete ${CONTAINER_ID}`;
      const scope = `/kubepods.slice/kubepods-pod1.slice/cri-containerd-${CONTAINER_ID}.scope`;
      const cgroup = {
        path: scope,
        version: 2,
        freezer: null,
        pids: null,
        memory: null,
        cpu: null,
        ioLimits: [],
      } as const;
      return factsOf({
        processes: processTable(
          processOf({ pid: 1, ppid: 0, stat: 'Rs', args: '/lib/systemd/systemd --system' }),
          processOf({ pid: 5834, ppid: SHIM_PID, ageMs: 95_000, args }),
        ),
        threads: podThreads(
          threadOf({
            ...{ pid: 5834, tid: 5834, comm: 'runc', role: 'runc', state: 'S', idle: true, wchan: 'do_epoll_wait' },
            call: callOf('epoll_pwait', 281),
          }),
        ),
        containers: [containerOf({ cgroup })],
        logs: logsOf([
          eventOf('dbus-failed', {
            container: null,
            message: 'unable to apply cgroup configuration',
            error: 'Message recipient disconnected from message bus without replying',
          }),
        ]),
      });
    },
  },
  {
    kind: 'bolt-behind-sync',
    how: 'dump of containerd 1.6.20 whose fdatasync is held',
    expected: { rule: 'bolt-behind-sync', atLeast: 'proved' },
    facts: () => factsOf({ daemonGoroutines: containerdDumps(['1.6.20-bolt-fdatasync-1', '1.6.20-bolt-fdatasync-2']) }),
  },
  {
    kind: 'containerd-lock',
    how: 'dump of containerd 1.6.20 whose log is a full pipe',
    expected: { rule: 'containerd-lock', atLeast: 'proved' },
    facts: () => factsOf({ daemonGoroutines: containerdDumps(['1.6.20-log-lock-1', '1.6.20-log-lock-2']) }),
  },
  {
    kind: 'cni-blamed',
    how: 'dump of containerd 1.6.20 with a plugin that sleeps',
    expected: { rule: 'cni-blamed', atLeast: 'proved' },
    facts: () =>
      factsOf({
        daemonGoroutines: containerdDumps(['1.6.20-cni-add']),
        processes: processTable(
          processOf({ pid: 5000, ppid: CONTAINERD_PID, args: '/opt/cni/bin/calico', ageMs: 30_000 }),
        ),
        daemons: [
          {
            ...{ kind: 'containerd', pid: CONTAINERD_PID, stat: 'Ssl', ageMs: 86_400_000, startedAt: null },
            ...{ args: '/usr/bin/containerd', ofTarget: true, threadsInD: 0 },
            cite: cited('node/processes.txt', '812 containerd'),
          },
        ],
        logs: logsOf([
          eventOf('sandbox-run-requested', {
            ...{ agoMs: 31_000, container: SANDBOX_ID, ids: [SANDBOX_ID], level: 'info' },
            message: 'RunPodSandbox for &PodSandboxMetadata{Name:web-0,}',
          }),
        ]),
      }),
  },
  {
    kind: 'shim-dead',
    how: 'no shim, its bundle is there, `shim disconnected` in the log',
    expected: { rule: 'shim-dead', atLeast: 'proved' },
    facts: () =>
      factsOf({
        shims: [shimOf({ alive: false })],
        containers: [
          containerOf({
            bundle: {
              files: ['config.json'],
              cite: cited(`containers/${CONTAINER_ID}/bundle.txt`, '# lstat of /run/…'),
            },
          }),
        ],
        processes: processTable(processOf({ pid: 2700, ppid: 1, args: 'sleep 1000' })),
        logs: logsOf([eventOf('shim-disconnected', { agoMs: 90_000, level: 'info', message: 'shim disconnected' })]),
      }),
  },
  {
    kind: 'shim-missed-exit',
    how: 'State says running, the process is gone, the shim (dump of 1.6.20) idles',
    expected: { rule: 'shim-missed-exit', atLeast: 'proved' },
    facts: () => {
      const look = { tid: SHIM_PID, state: 'S', wchan: null, call: null, blockedForMs: 30_000 };
      return factsOf({
        containers: [
          containerOf({
            init: 'gone',
            criStatus: believed,
            shimAnswer: {
              ...{ status: 'RUNNING', pid: 2700, exitStatus: null, exitedAt: null, tookMs: 3 },
              cite: cited('runtime/views.json', 'RUNNING'),
            },
          }),
        ],
        shims: [shimOf({ children: [], firstLook: [{ ...look, cite: cited('shim/threads-1.txt', `${SHIM_PID}`) }] })],
        threads: podThreads(threadOf({ state: 'S', stack: GO_IDLE, idle: true })),
        goroutines: [shimDump('1.6.20-healthy')],
      });
    },
  },
];
