import type { Manifest } from '../../../src/bundle/manifest.ts';
import type { Plan } from '../../../src/bundle/plan.ts';
import type { BundleContent } from '../../../src/bundle/writer.ts';
import type { Sandbox } from '../../../src/sandbox/types.ts';

/** A plan and a manifest with every field that there is, as a grab of a sandbox would write them. */

export const FOLDER = 'stallcap-n1-web-0-20261129T114908Z';
export const STARTED_AT = '2026-11-29T11:49:08.683Z';

const SANDBOX_ID = '50c511338bc211a61bd248546818ddf63927f9907e911f557822516309a11b0c';
const BUNDLE = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${SANDBOX_ID}`;

const sandbox: Sandbox = {
  id: SANDBOX_ID,
  namespace: 'k8s.io',
  pod: { name: 'web-0', namespace: 'shop', uid: '0b6b8d5e-93a7-4b52-9a53-0f6a3c1d7a11' },
  runtime: 'containerd',
  shims: [
    {
      pid: 24108,
      startTicks: '812345',
      generation: 'v2',
      bundle: BUNDLE,
      bundleDeleted: false,
      namespace: 'k8s.io',
      id: SANDBOX_ID,
      state: '/run/containerd',
      root: '/var/lib/containerd',
      argv: ['/usr/bin/containerd-shim-runc-v2', '-namespace', 'k8s.io', '-id', SANDBOX_ID],
      exe: '/usr/bin/containerd-shim-runc-v2',
      address: '/run/containerd/containerd.sock',
      socket: 'unix:///run/containerd/s/9c2d',
      shimVersion: 2,
    },
  ],
  containers: [
    {
      id: SANDBOX_ID,
      kind: 'sandbox',
      name: null,
      bundle: BUNDLE,
      initPid: 24130,
      initStartTicks: '812360',
      runcState: `/run/containerd/runc/k8s.io/${SANDBOX_ID}`,
      shimPid: 24108,
      how: 'own bundle',
    },
  ],
};

const shared = {
  format: 1,
  tool: { name: 'stallcap', version: '0.1.0', runtime: 'node 24.22.3' },
  operator: { uid: 0, user: 'root', sudoUser: 'ana' },
  host: {
    hostname: 'n1',
    bootId: '6f1f6c4e-6a0b-4ffb-8b53-2f6f55c2a6a1',
    kernel: '6.18.5',
    architecture: 'x86_64',
    cpus: 2,
    memoryBytes: 25_276_964_864,
    uptimeSeconds: 8124.5,
    timezone: { name: 'Europe/Berlin', utcOffsetMinutes: 60 },
  },
  target: { kind: 'sandbox', asked: 'shop/web-0', how: 'annotations of config.json', sandbox },
} as const;

const options = {
  timeoutMs: 30_000,
  samples: 3,
  intervalMs: 1000,
  sinceMs: 1_800_000,
  maxBytes: 128 * 1024 * 1024,
  signal: true,
  forceSignal: false,
  signalAgain: false,
  daemons: false,
  skip: ['kernel-log'],
  note: 'INC-4711',
  attach: [],
  redact: true,
};

const argv = ['stallcap', 'grab', 'shop/web-0', '--note', 'INC-4711'];

export const plan: Plan = {
  ...shared,
  startedAt: STARTED_AT,
  argv,
  note: 'INC-4711',
  options,
  collectors: [
    { name: 'shim-threads', phase: 'first-look', deadlineMs: 2000 },
    { name: 'containerd-log', phase: 'linger', deadlineMs: 8000 },
  ],
};

export function manifest(content: BundleContent): Manifest {
  return {
    ...shared,
    capture: {
      startedAt: STARTED_AT,
      endedAt: '2026-11-29T11:49:14.120Z',
      durationMs: 5437.2,
      argv,
      outcome: 'interrupted',
      reason: 'SIGHUP',
      options,
      note: 'INC-4711',
      clocks: { realtime: '2026-11-29T11:49:08.690Z', monotonicNs: '8124512345678', offsetMs: 7 },
    },
    items: content.items,
    notGot: content.notGot,
    signals: [
      {
        pid: 24108,
        startTicks: '812345',
        signal: 'SIGUSR1',
        outcome: 'sent',
        offsetMs: 61.5,
        guards: [{ guard: 'catches SIGUSR1', passed: true, saw: 'SigCgt 0000000000000200' }],
        steps: [{ offsetMs: 80.1, step: 'journal', result: 'END marker after 18 ms' }],
        dump: 'complete',
      },
    ],
    stuckProbes: [
      {
        pid: 24500,
        request: 'read',
        item: '/proc/24130/cmdline',
        offsetMs: 210,
        waitedMs: 1000,
        state: 'D',
        wchan: '__access_remote_vm',
        syscall: '0 0x14 0x7f0 0x1000 0x0 0x0 0x0 0x7ffe 0x7f1',
        stack: '[<0>] __access_remote_vm+0x4d/0x390',
        fds: ['20 /proc/24130/cmdline'],
        children: ['24501 crictl D rwsem_down_read_slowpath'],
        reaped: false,
      },
    ],
    observer: { wallMs: 5437.2, cpuMs: 310.4, peakRssBytes: 98_000_000, childCpuMs: 120.1, children: 3 },
    output: {
      folder: FOLDER,
      place: `/run/stallcap/${FOLDER}.tar.gz`,
      packedBytes: content.packedBytes,
      unpackedBytes: content.unpackedBytes,
      maxBytes: options.maxBytes,
    },
  };
}
