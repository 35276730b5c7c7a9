import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KernelEvent } from '../../../src/diagnosis/facts.ts';
import { CONTAINER_ID, STARTED_AT } from '../facts-of.ts';
import { factsOfMade, type MadeBundle, POD_UID } from '../made-bundle.ts';

/** The clock of the made manifest: it was started 100,000 s after the kernel. */
const BOOTED_AT = STARTED_AT - 100_000_000;

function events(log: string, bundle: Partial<MadeBundle> = {}): readonly KernelEvent[] {
  return factsOfMade({ ...bundle, entries: { 'logs/kernel.log': log, ...bundle.entries } }).kernel?.events ?? [];
}

const kmsg = (seconds: number, text: string) => `6,1,${seconds * 1_000_000},-;${text}\n`;

describe('what the kernel said', () => {
  it.each([
    ['io-error', 'I/O error, dev nvme1n1, sector 281224 op 0x1:(WRITE) flags 0x0 phys_seg 22 prio class 2', 'nvme1n1'],
    ['io-error', 'blk_update_request: I/O error, dev sdb, sector 0', 'sdb'],
    ['io-error', 'Buffer I/O error on dev loop0, logical block 35153, lost async page write', 'loop0'],
    ['controller-timeout', 'nvme nvme0: I/O 12 QID 3 timeout, aborting', 'nvme0'],
    ['controller-timeout', 'nvme nvme1: controller is down; will reset: CSTS=0x3', 'nvme1'],
    ['controller-timeout', 'ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen', null],
    [
      'filesystem-error',
      'EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm dd: reading directory lblock 0',
      'sda1',
    ],
    ['filesystem-error', 'XFS (dm-3): Filesystem has been shut down due to log error (0x2).', 'dm-3'],
    ['unregister-netdevice', 'unregister_netdevice: waiting for lo to become free. Usage count = 1', null],
    ['nfs-not-responding', 'nfs: server 10.0.0.5 not responding, still trying', null],
    ['fork-rejected', 'cgroup: fork rejected by pids controller in /kubepods/x', null],
    ['soft-lockup', 'watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [kworker/1:0:123]', null],
  ] as const)('%s: %s', (kind, text, device) => {
    for (const log of [kmsg(99_940, text), `[99940.000000] ${text}\n`]) {
      expect(events(log)).toMatchObject([
        { kind, device, time: BOOTED_AT + 99_940_000, cite: { entry: 'logs/kernel.log', line: 1 } },
      ]);
    }
  });

  it('about a kill for memory names the process, and the pod by its cgroup', () => {
    const own = `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/kubepods/burstable/pod${POD_UID},task_memcg=/kubepods/burstable/pod${POD_UID}/${CONTAINER_ID},task=java,pid=4711,uid=0`;
    const other = 'Memory cgroup out of memory: Killed process 4712 (node) total-vm:1kB, anon-rss:1kB, file-rss:0kB';
    expect(events(kmsg(1, own) + kmsg(2, other))).toMatchObject([
      { kind: 'oom-kill', comm: 'java', pid: 4711, container: CONTAINER_ID, ofPod: true },
      { kind: 'oom-kill', comm: 'node', pid: 4712, container: null, ofPod: false },
    ]);
  });

  it('about a pod is told also by the unit names of systemd', () => {
    const slice = `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${POD_UID.replaceAll('-', '_')}.slice`;
    expect(events(kmsg(1, `oom-kill:oom_memcg=${slice},task=java,pid=4711`))).toMatchObject([
      { ofPod: true, container: null },
    ]);
  });

  it('of a hung task has its stack, how long, and whether it is of the pod', () => {
    const log = readFileSync(join(import.meta.dirname, '../../fixtures/kernel-log/hung-task-6.18.kmsg'), 'utf8');
    const [hung] = events(log);
    expect(hung).toMatchObject({ kind: 'hung-task', comm: 'touch', hungForMs: 2000, ofPod: false });
    expect(hung?.trace?.frames.map(({ symbol }) => symbol)).toContain('percpu_rwsem_wait');
    const threads = `# process ${hung?.pid} touch\n===== ${hung?.pid} touch D percpu_rwsem_wait blocked for 9.0 =====\n257 0x1 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n`;
    const own = events(log, { entries: { [`containers/${CONTAINER_ID}/threads-1.txt`]: threads } });
    expect(own[0]?.ofPod).toBe(true);
  });

  it('of no interest is left out, and nothing said is not the same as not captured', () => {
    expect(events(kmsg(1, 'EXT4-fs (loop0): mounted filesystem r/w with ordered data mode'))).toEqual([]);
    expect(factsOfMade({ entries: { 'logs/kernel.log': '' } }).kernel).toMatchObject({ events: [] });
    expect(factsOfMade({ entries: {} }).kernel).toBeNull();
  });
});
