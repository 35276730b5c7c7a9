import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MIN_STALL_MS } from '../../../src/diagnosis/rule.ts';
import { parseDiskstats } from '../../../src/formats/proc/diskstats.ts';
import { expectNamed } from '../eval/expect-named.ts';
import { reportOfFile } from '../eval/judged.ts';
import { OVERLAY_UMOUNT_SYNC } from '../eval/stalls.ts';
import { leftovers } from '../leftovers.ts';
import { threads } from '../proc.ts';
import { labUnavailable } from '../requirements.ts';
import { type OverlayUmountSync, overlayUmountSync } from '../stalls/overlay-umount-sync.ts';
import { SYSCALL } from '../syscalls.ts';
import { type Grabbed, gapsOf, grab } from './grab.ts';
import { expectValid } from './schema.ts';
import { stallcap } from './stallcap.ts';

/** With psi=0 the kernel has none. */
const hasPressure = existsSync('/proc/pressure/io');

const DESCRIBED = `Events:
  Type     Reason         Age  From     Message
  ----     ------         ---  ----     -------
  Warning  FailedKillPod  9s   kubelet  error killing pod; --token=c2VjcmV0LXRva2VuLW9mLXNob3A
`;

describe.skipIf(labUnavailable())('a grab of a pod whose shim is blocked in umount on a slow disk', () => {
  let stall: OverlayUmountSync;
  let grabbed: Grabbed;
  beforeAll(async () => {
    stall = await overlayUmountSync();
    // Nothing younger is called a stall; twice that, since ages are only as good as the clocks of the CPUs.
    await sleep(2 * MIN_STALL_MS);
    const described = join(stall.folder.path, 'describe.txt');
    writeFileSync(described, DESCRIBED);
    grabbed = await grab(stall.folder, [stall.pod.id.slice(0, 12), '--attach', described], { exit: 0 });
  });
  afterAll(async () => {
    await stall[Symbol.asyncDispose]();
    expect(leftovers(stall.folder)).toEqual([]);
  });

  it('lacks nothing, and says so only because it is so', () => {
    const { bundle } = grabbed;
    expect(gapsOf(bundle)).toEqual([]);
    expect(bundle.manifest).toMatchObject({ capture: { outcome: 'complete' }, stuckProbes: [] });
    const absent = [...bundle.manifest.items, ...bundle.manifest.notGot].filter(({ outcome }) => outcome === 'absent');
    // Each of them with the reason why this node has none.
    for (const { detail } of absent) expect(detail).toMatch(/./);
    const [shim, init] = ['shim/threads-1.txt', `containers/${stall.container.id}/threads-1.txt`];
    expect(absent.map(({ path }) => path)).not.toContain(shim);
    // Its init was killed: that is the stall.
    expect(absent.map(({ path }) => path)).toContain(init);
  });

  it('has the thread in umount2, its kernel stack and its age, in every look', () => {
    const { bundle } = grabbed;
    for (const look of [1, 2, 3, 4]) {
      const thread = bundle.threads(`shim/threads-${look}.txt`).find(({ tid }) => tid === stall.thread.tid);
      expect(thread).toMatchObject({ state: 'D', pid: stall.pod.shimPid });
      expect(Number.parseInt(thread?.syscall ?? '', 10)).toBe(SYSCALL.umount2);
      expect(thread?.stack?.join('\n')).toMatch(
        /\bovl_sync_fs\+[\s\S]*\bgeneric_shutdown_super\+[\s\S]*\bcleanup_mnt\+/,
      );
    }
    // Each by the clock of the CPU that the look was taken on; those of a virtual machine drift apart by its steal time.
    const ages = [1, 2, 3, 4].map(
      look =>
        bundle.threads(`shim/threads-${look}.txt`).find(({ tid }) => tid === stall.thread.tid)?.blockedForSeconds ?? -1,
    );
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...ages)).toBeGreaterThan(0);
    expect(bundle.threads('node/blocked.txt')).toContainEqual(
      expect.objectContaining({ tid: stall.thread.tid, state: 'D' }),
    );
  });

  it('has the goroutine dump whole, with the goroutine that unmounts', () => {
    const { bundle } = grabbed;
    const dump = bundle.text('shim/goroutines.txt');
    expect(dump).toMatch(/^=== BEGIN goroutine stack dump ===\n[\s\S]*\n=== END goroutine stack dump ===$/);
    const unmounting = dump
      .split('\n\n')
      .find(goroutine => /\bmount\.(?:Unmount|UnmountAll|unmount)\w*\(/.test(goroutine));
    expect(unmounting).toMatch(/\(\*Init\)\.[dD]elete\(/);
    expect(bundle.manifest.signals).toMatchObject([{ pid: stall.pod.shimPid, outcome: 'sent', dump: 'complete' }]);
  });

  it('has what contradicts each other: CRI says running, the process is gone', () => {
    const { bundle } = grabbed;
    const status = JSON.parse(bundle.text(`containers/${stall.container.id}/status.json`));
    expect(status).toMatchObject({ Pid: stall.initPid, FinishedAt: 0 });
    expect(bundle.text('node/processes.txt')).not.toMatch(new RegExp(`^ *${stall.initPid} `, 'm'));
    expect(bundle.text(`containers/${stall.container.id}/status.stat`)).toMatch(/mtime=\d{4}-.*\.\d{9}Z/);
  });

  it('has samples in which the disk is busy all the time, and the way from containerd to that disk', () => {
    const { bundle } = grabbed;
    const device = stall.disk.device.replace('/dev/', '');
    const samples = bundle
      .text('node/samples.jsonl')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(samples).toHaveLength(3);
    for (const { files } of samples) {
      const disk = parseDiskstats(files['/proc/diskstats']).find(({ name }) => name === device);
      expect(disk?.inFlight).toBeGreaterThan(0);
      if (hasPressure) expect(files['/proc/pressure/io']).toMatch(/^some avg10=/);
    }
    const disks = bundle.text('node/disks.txt');
    expect(disks).toContain(`containerd's root ${stall.containerd.root}`);
    expect(disks).toContain(`${device} is the file `);
  });

  it('says in its closing words who, what, since when, and what to do next', () => {
    const { run, file } = grabbed;
    expect(run.stderr).toMatch(/^Captured: shop\/web-0, sandbox \w{12}, shim \d+, 1 container$/m);
    expect(run.stderr).toMatch(
      / {2}containerd-shim \d+ \(shim\) in umount2, \w+, state D, for [\d.]+ s, the same stack in 4 of 4 looks$/m,
    );
    // Also when the Delete that waits for it has timed out by now: what is waited for is said first.
    expect(run.stderr).toMatch(
      /^Verdict: (?:Likely: )?A thread of the shim has been unmounting a container's disk for/m,
    );
    expect(run.stderr).toMatch(/in umount2/);
    expect(run.stderr).toMatch(/^Missing: nothing$/m);
    expect(run.stderr).toContain(`Next: stallcap report ${file}`);
  });

  it('has what was attached, without its secret, and on the timeline', async () => {
    const { bundle, file } = grabbed;
    expect(bundle.text('attached/describe.txt')).toMatch(/error killing pod; --token=\[redacted/);
    const { timeline } = await reportOfFile(file);
    const told = timeline.events.find(({ what }) => what.startsWith('FailedKillPod: '));
    expect(told).toMatchObject({
      layer: 'kubelet',
      severity: 'bad',
      cite: { entry: 'attached/describe.txt', line: 4 },
    });
    expect(Date.parse(bundle.manifest.capture.startedAt) - Date.parse(told?.at ?? '')).toBeGreaterThan(5000);
  });

  it('is named right, and the chain ends at the disk', () => expectNamed(OVERLAY_UMOUNT_SYNC.cases[0], grabbed.file));

  it('is verified as whole, and opened without a warning by GNU tar, busybox and Python', async () => {
    const { file, bundle } = grabbed;
    const verified = await stallcap(stall.folder, ['verify', file, '--json']);
    expect(verified).toMatchObject({ exit: 0, stderr: '' });
    const document = JSON.parse(verified.stdout.toString());
    expectValid('verify', document);
    expect(document).toMatchObject({ whole: true, entries: bundle.names.length });

    const python = 'import sys, tarfile; tarfile.open(sys.argv[1], errorlevel=2).extractall(".")';
    for (const [name, argv] of [
      ['gnu', ['tar', 'xzf', file]],
      ['busybox', ['busybox', 'tar', 'xzf', file]],
      ['python', ['python3', '-W', 'error::RuntimeWarning', '-c', python, file]],
    ] as const) {
      const dir = join(stall.folder.path, `opened-by-${name}`);
      mkdirSync(dir);
      const [program, ...args] = argv;
      // Python is not everywhere; the tars are.
      const opened = await execa(program, args, { cwd: dir, reject: false });
      if (name === 'python' && opened.code === 'ENOENT') continue;
      expect({ name, exit: opened.exitCode, stderr: opened.stderr }).toEqual({ name, exit: 0, stderr: '' });
      const entry = join(dir, bundle.manifest.output.folder, 'shim/threads-1.txt');
      expect(statSync(entry).size).toBe(Buffer.byteLength(bundle.text('shim/threads-1.txt')));
    }
  });

  it('did not end the stall, nor was it ended by it', () => {
    const blocked = threads(stall.pod.shimPid).find(({ tid }) => tid === stall.thread.tid);
    expect(blocked).toMatchObject({ state: 'D', syscall: SYSCALL.umount2 });
  });
});
