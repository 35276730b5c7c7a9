/** Every stall of the lab, each on a containerd of its own. */
import { expect } from 'vitest';
import { expectUnharmed, type Grabbed, gapsOf } from '../grab/grab.ts';
import { newerContainerd } from '../newer-containerd.ts';
import { alive, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { type ContainerdGone, containerdDead, containerdStopped } from '../stalls/containerd-stopped.ts';
import { dockerStopped } from '../stalls/docker-stopped.ts';
import { exitEventLost } from '../stalls/exit-event-lost.ts';
import { filesystemFrozen } from '../stalls/filesystem-frozen.ts';
import { mmapLockHeld } from '../stalls/mmap-lock-held.ts';
import { mountFrozen } from '../stalls/mount-frozen.ts';
import { mountFuseStopped } from '../stalls/mount-fuse-stopped.ts';
import { overlayUmountSync } from '../stalls/overlay-umount-sync.ts';
import { rootfsInUse } from '../stalls/rootfs-in-use.ts';
import { type RuncHeld, runcHeld } from '../stalls/runc-held.ts';
import { type Stall, stalled } from '../stalls/stall.ts';
import { startBehindCappedDisk } from '../stalls/start-behind-capped-disk.ts';
import { type StdioDrain, stdioDrain } from '../stalls/stdio-drain.ts';
import { umountDelayed } from '../stalls/umount-delayed.ts';
import { defineGround, SETTLED_MS } from './case.ts';

export const DUMP = /^=== BEGIN goroutine stack dump ===\n[\s\S]*\n=== END goroutine stack dump ===$/;
/** Default of --timeout, and the grace in which a seal may end. */
export const IN_TIME_MS = 33_000;

/** runc is there for tenths of a second: it is called stuck from 10 s on. */
const RUNC_STUCK_MS = 12_500;

export const OVERLAY_UMOUNT_SYNC = defineGround({
  name: 'a slow disk below a container that has written',
  make: () => overlayUmountSync(),
  cases: [
    {
      kind: 'overlay-umount-sync',
      stall: '1',
      how: '160 MiB dirty, a disk of 2 MB/s, the container killed',
      settleMs: 2 * SETTLED_MS,
      begin: ({ pod }) => pod.id,
      expected: { rule: 'overlay-umount-sync', atLeast: 'likely', chainEnd: ['overlay-umount-sync', 'disk-capped'] },
      testedIn: 'test/lab/grab/overlay-umount-sync.test.ts',
    },
  ],
});

const START_BEHIND_CAPPED_DISK = defineGround({
  name: 'a slow disk that a neighbour is busy with',
  make: startBehindCappedDisk,
  cases: [
    {
      kind: 'start-on-capped-disk',
      stall: '16',
      how: 'dd with fsync in a neighbour pod, then StartContainer on the same disk',
      // An fsync of containerd counts from 10 s on.
      settleMs: 2 * SETTLED_MS,
      begin: ({ pod }) => pod.id,
      exit: [0, 3],
      expected: { rule: ['disk-capped', 'ext4-journal'], atLeast: 'likely', chainEnd: 'disk-capped' },
    },
  ],
});

const UMOUNT_DELAYED = defineGround({
  name: 'a shim held in umount2',
  make: () => umountDelayed(),
  cases: [
    {
      kind: 'umount-delayed',
      stall: '2',
      how: 'strace holds umount2; `ctr task ls` asks for State',
      settleMs: SETTLED_MS,
      begin: async ({ containerd, pod }) => {
        await containerd.ctr(['task', 'ls']);
        return pod.id;
      },
      expected: { rule: 'state-behind-delete', atLeast: 'likely' },
    },
  ],
});

export const FILESYSTEM_FROZEN = defineGround({
  name: 'a frozen disk below containerd',
  make: () => filesystemFrozen(),
  cases: [
    {
      kind: 'filesystem-frozen',
      stall: '3',
      how: "fsfreeze below containerd's root, the container killed",
      settleMs: SETTLED_MS,
      begin: ({ pod }) => pod.id,
      expected: { rule: 'fs-frozen', atLeast: 'likely' },
      testedIn: 'test/lab/grab/stalls.test.ts',
    },
  ],
});

const MMAP_LOCK_HELD = defineGround({
  name: 'a process whose mmap_lock is held',
  make: () => mmapLockHeld(),
  cases: [
    {
      kind: 'mmap-lock-held',
      stall: '4',
      how: 'a page of a stopped FUSE mount; ps hangs; the node is grabbed',
      settleMs: SETTLED_MS,
      begin: () => '--node',
      args: ['--samples', '1', '--skip', 'ps'],
      exit: 3,
      expected: { rule: 'mmap-lock', atLeast: 'likely', anywhere: true },
    },
  ],
});

/** What is missing is what containerd would have said. */
function expectDrained({ pod, container, initPid }: ContainerdGone, { bundle, run }: Grabbed, why: RegExp): void {
  expect(gapsOf(bundle).filter(gap => !/^(?:runtime\/|ctr )/.test(gap))).toEqual([]);
  expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
  const [signalled] = bundle.manifest.signals;
  expect(signalled).toMatchObject({ pid: pod.shimPid, outcome: 'sent', dump: 'complete' });
  expect(signalled?.steps.map(({ step, result }) => `${step}: ${result}`).join('\n')).toMatch(why);
  expect(bundle.threads(`containers/${container.id}/threads-1.txt`)).toMatchObject([{ tid: initPid }]);
  expect(bundle.text(`containers/${container.id}/status.json`)).toContain(`"Pid":${initPid}`);
  expect(run.ms).toBeLessThan(IN_TIME_MS);
  expect([pod.shimPid, pod.initPid, initPid].every(alive)).toBe(true);
}

const containersOf = ({ pod, container, initPid }: ContainerdGone) => [pod, { id: container.id, initPid }];

const CONTAINERD_STOPPED = defineGround({
  name: 'a stopped containerd',
  make: () => containerdStopped(),
  cases: [
    {
      kind: 'containerd-stopped',
      stall: '6',
      how: 'SIGSTOP to containerd below a pod that is well',
      settleMs: 0,
      // It is stopped for as long as it has not answered us: nobody says since when.
      args: ['--samples', '6'],
      begin: ({ pod }) => pod.id.slice(0, 12),
      exit: 3,
      expected: { rule: 'containerd-stopped', atLeast: 'proved' },
      also: async (ground, grabbed) => {
        expectDrained(ground, grabbed, /it is stopped \(T\); so the fifo is opened before/);
        expect(status(ground.containerd.pid)?.state).toBe('T');
        signal(ground.containerd.pid, 'SIGCONT');
        await expectUnharmed(ground.containerd, containersOf(ground));
      },
    },
  ],
});

const CONTAINERD_DEAD = defineGround({
  name: 'a dead containerd',
  make: () => containerdDead(),
  cases: [
    {
      kind: 'containerd-dead',
      stall: '6',
      how: 'SIGKILL to containerd below a pod that is well',
      settleMs: 0,
      args: ['--samples', '6'],
      begin: ({ pod }) => pod.id.slice(0, 12),
      exit: 3,
      expected: { rule: 'containerd-stopped', atLeast: 'proved' },
      also: async (ground, grabbed) => {
        expectDrained(ground, grabbed, /no containerd serves .*; so the fifo is opened before/);
        await ground.containerd.start();
        await expectUnharmed(ground.containerd, containersOf(ground));
      },
    },
  ],
});

const DOCKER_STOPPED = defineGround({
  name: 'a stopped dockerd',
  make: () => dockerStopped(),
  cases: [
    {
      kind: 'docker-stopped',
      stall: '8',
      how: 'SIGSTOP to dockerd, then the container killed',
      settleMs: SETTLED_MS,
      args: ['--samples', '3'],
      begin: ({ container }) => container.id.slice(0, 12),
      exit: 3,
      expected: { rule: 'containerd-stopped', atLeast: 'likely' },
      also: ({ docker, container }, { bundle, run }) => {
        expect(gapsOf(bundle).filter(gap => !gap.startsWith('docker --host'))).toEqual([]);
        expect(JSON.parse(bundle.text(`containers/${container.id}/config.v2.json`))).toMatchObject({
          State: { Running: true, Pid: container.initPid },
        });
        const processes = bundle.text('node/processes.txt');
        expect(processes).not.toMatch(new RegExp(`^ *${container.initPid} .*sleep`, 'm'));
        expect(processes).toMatch(new RegExp(`^ *${docker.pid} +${docker.pid} +\\d+ T`, 'm'));
        expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
        expect(bundle.manifest.stuckProbes).toMatchObject([
          { request: 'run', item: expect.stringContaining('docker') },
        ]);
        // Its clients are not waited for one after another.
        expect(run.ms).toBeLessThan(20_000);
        expect(status(docker.pid)?.state).toBe('T');
      },
    },
  ],
});

const STDIO_DRAIN = defineGround<StdioDrain>({
  name: 'containerd 2.1 and a process that holds an output',
  unavailable: async () => {
    const binaries = await newerContainerd('forky');
    return 'reason' in binaries ? binaries.reason : null;
  },
  make: async () => {
    const binaries = await newerContainerd('forky');
    if ('reason' in binaries) throw new Error(binaries.reason);
    return stdioDrain(binaries);
  },
  cases: [
    {
      kind: 'stdio-drain',
      stall: '10',
      how: "a process outside holds the dead container's stdout, containerd 2.1",
      // It lasts 10 s.
      settleMs: 5500,
      args: ['--samples', '1'],
      begin: ({ pod }) => pod.id,
      exit: [0, 3],
      // Who holds it is found.
      expected: { rule: 'stdio-drain', atLeast: 'proved' },
      also: ({ holderPid }, { run }) => {
        expect(run.stderr).toMatch(
          new RegExp(`^Verdict: process ${holderPid} \\(sleep\\) still holds the output`, 'm'),
        );
      },
    },
  ],
});

const ROOTFS_IN_USE = defineGround({
  name: 'a shell that stands in a rootfs',
  make: rootfsInUse,
  cases: [
    {
      kind: 'rootfs-in-use',
      stall: '17',
      how: 'a process outside has the rootfs as its cwd, the container killed',
      settleMs: SETTLED_MS,
      begin: ({ pod }) => pod.id,
      exit: [0, 3],
      expected: { rule: 'rootfs-busy', atLeast: 'proved' },
      also: ({ holderPid }, { run }) => {
        expect(run.stderr).toMatch(
          new RegExp(`^Verdict: .* because process ${holderPid} \\(sleep, cwd\\) uses it`, 'm'),
        );
      },
    },
  ],
});

const MOUNT_FROZEN = defineGround({
  name: 'a frozen disk below the snapshots',
  make: () => mountFrozen(),
  cases: [
    {
      kind: 'mount-frozen',
      stall: '11a',
      how: 'fsfreeze below the snapshotter, then StartContainer',
      settleMs: SETTLED_MS,
      begin: ({ pod }) => pod.id,
      expected: { rule: ['fs-frozen', 'overlay-mount-blocked'], atLeast: 'likely' },
    },
  ],
});

const MOUNT_FUSE_STOPPED = defineGround({
  name: 'a volume whose FUSE daemon is stopped',
  make: () => mountFuseStopped(),
  cases: [
    {
      kind: 'mount-fuse-stopped',
      stall: '11b',
      how: 'SIGSTOP to the bindfs below a volume, then StartContainer',
      settleMs: SETTLED_MS,
      begin: ({ pod }) => pod.id.slice(0, 12),
      expected: { rule: 'fuse-hang', atLeast: 'likely' },
      also: ({ thread, runcPid }, { bundle, run }) => {
        expect(gapsOf(bundle)).toEqual([]);
        for (const look of [1, 2, 3]) {
          const waiting = bundle.threads(`shim/children-${look}.txt`).find(({ tid }) => tid === thread.tid);
          expect(waiting).toMatchObject({ pid: thread.pid, state: 'S', wchan: 'request_wait_answer' });
          expect(waiting?.stack?.join('\n')).toMatch(/\brequest_wait_answer\+[\s\S]*\bfuse_/);
        }
        expect(bundle.threads('shim/children-1.txt').map(({ pid }) => pid)).toContain(runcPid);
        expect(bundle.threads('node/blocked.txt').map(({ tid }) => tid)).toContain(thread.tid);
        expect(run.stderr).toMatch(
          /runc:\[2:INIT\] \d+ \(shim children\) in newfstatat, request_wait_answer, state S, for/,
        );
      },
    },
  ],
});

interface RuncsHeld extends Stall {
  readonly held: Readonly<Record<'create' | 'delete', RuncHeld>>;
}

/** Two containerds, so that both wait at the same time. */
function runcsHeld(): Promise<RuncsHeld> {
  return stalled(async (_, undo) => {
    const create = undo.use(await runcHeld({ command: 'create' }));
    const held = { create, delete: undo.use(await runcHeld({ command: 'delete' })) };
    return { held };
  });
}

const RUNCS_HELD = defineGround({
  name: 'a runc that does not come back',
  make: runcsHeld,
  cases: [
    {
      kind: 'runc-create-held',
      stall: '11c',
      how: 'a runc that sleeps in create',
      settleMs: RUNC_STUCK_MS,
      begin: ({ held }) => held.create.pod.id,
      expected: { rule: 'runc-stuck', atLeast: 'likely' },
    },
    {
      kind: 'runc-delete-held',
      stall: '11c',
      how: 'a runc that sleeps in delete, as often as it is retried',
      settleMs: 0,
      begin: ({ held }) => held.delete.pod.id,
      expected: { rule: 'runc-stuck', atLeast: 'likely' },
    },
  ],
});

const EXIT_EVENT_LOST = defineGround({
  name: 'a containerd that missed the end of a container',
  make: () => exitEventLost(),
  cases: [
    {
      kind: 'exit-event-lost',
      stall: '13',
      how: 'the container killed while containerd 1.6 starts',
      settleMs: SETTLED_MS,
      begin: ({ pod }) => pod.id,
      expected: { rule: 'exit-event-lost', atLeast: 'likely' },
    },
  ],
});

export const STALLS = [
  OVERLAY_UMOUNT_SYNC,
  START_BEHIND_CAPPED_DISK,
  UMOUNT_DELAYED,
  FILESYSTEM_FROZEN,
  MMAP_LOCK_HELD,
  CONTAINERD_STOPPED,
  CONTAINERD_DEAD,
  DOCKER_STOPPED,
  STDIO_DRAIN,
  ROOTFS_IN_USE,
  MOUNT_FROZEN,
  MOUNT_FUSE_STOPPED,
  RUNCS_HELD,
  EXIT_EVENT_LOST,
];
