import { describe, expect, it } from 'vitest';
import type { Thread } from '../../../src/diagnosis/facts.ts';
import { CONTAINER_ID, SHIM_PID } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { factsOfMade, type MadeBundle } from '../made-bundle.ts';

interface Seen {
  readonly tid?: number;
  readonly comm?: string;
  readonly state?: string;
  readonly wchan?: string;
  readonly blockedFor?: number | null;
  readonly syscall?: string;
  readonly stack?: readonly string[];
}

const UMOUNT = '166 0xc000300120 0x0 0x0 0x0 0x0 0x0 0x7ffc6f63e6e8 0x65d863';
const READ = '0 0x3 0xc000300120 0x100000 0x0 0x0 0x0 0x7ffc6f63e6e8 0x65d863';

function block({
  tid = 2631,
  comm = 'containerd-shim',
  state = 'D',
  wchan = 'wb_wait_for_completion',
  ...seen
}: Seen): string {
  const {
    blockedFor = 20,
    syscall = UMOUNT,
    stack = ['wb_wait_for_completion+0x81/0xb0', 'ovl_sync_fs+0x59/0x90'],
  } = seen;
  const age = blockedFor === null ? '' : ` blocked for ${blockedFor.toFixed(1)}`;
  const lines = [
    `===== ${tid} ${comm} ${state} ${wchan}${age} =====`,
    syscall,
    ...stack.map(frame => `[<0>] ${frame}`),
  ];
  return `${lines.join('\n')}\n`;
}

const idle = (tid: number, blockedFor: number) =>
  block({
    ...{ tid, state: 'S', wchan: 'futex_do_wait', blockedFor, stack: ['futex_do_wait+0x46/0x90'] },
    syscall: `202 0x${tid} 0x80 0x0 0x0 0x0 0x0 0x7ffc 0x65d863`,
  });

/** Looks one second apart; what each has below the line of the process. */
function looks(texts: readonly string[], more: Partial<MadeBundle> = {}) {
  const entries = texts.map((text, index) => {
    const entry = {
      text: `# process ${SHIM_PID} containerd-shim\n${text}`,
      offsetMs: 100 + index * 1000,
      durationMs: 2,
    };
    return [`shim/threads-${index + 1}.txt`, entry] as const;
  });
  return factsOfMade({ ...more, entries: { ...Object.fromEntries(entries), ...more.entries } });
}

function thread(facts: ReturnType<typeof looks>, tid = 2631): Thread {
  const found = facts.threads?.all.find(candidate => candidate.tid === tid);
  if (found === undefined) throw new Error(`no thread ${tid}`);
  return found;
}

describe('threads over several looks', () => {
  it('never moved when call, arguments and stack are the same and its age grows as time does', () => {
    const found = thread(looks([20, 21, 22, 23].map(blockedFor => block({ blockedFor }))));
    expect(found).toMatchObject({ moved: 'never', seen: 4, looks: 4, blockedForMs: 23_000, call: { name: 'umount2' } });
    expect(found.unchanged).toEqual(['system call and arguments', 'kernel stack', 'no CPU time and no context switch']);
    expect(found.cites.map(({ entry, line }) => [entry, line])).toEqual([
      ['shim/threads-1.txt', 2],
      ['shim/threads-4.txt', 2],
    ]);
    expect(found.stack?.[1]).toMatchObject({ symbol: 'ovl_sync_fs', line: 5 });
  });

  it('moved when a reader in a loop is in the same call with the same stack in every look, and has run in between', () => {
    const busy = [0.1, 0.0, 0.2, 0.1].map(blockedFor => block({ blockedFor, syscall: READ }));
    expect(thread(looks(busy))).toMatchObject({ moved: 'moved', seen: 1, looks: 4, inSameCall: { looks: 4 } });
  });

  it('moved when it was in D in one look and not in the last', () => {
    const elsewhere = block({ state: 'S', wchan: 'futex_do_wait', syscall: '202 0x1 0x80 0x0 0x0 0x0 0x0 0x1 0x2' });
    expect(thread(looks([block({ blockedFor: 8 }), block({ blockedFor: 9 }), elsewhere]))).toMatchObject({
      moved: 'moved',
    });
  });

  it('moved when an argument differs', () => {
    const other = block({ blockedFor: 21, syscall: UMOUNT.replace('0120', '0180') });
    expect(thread(looks([block({ blockedFor: 20 }), other]))).toMatchObject({
      moved: 'moved',
      inSameCall: { looks: 1 },
    });
  });

  it('moved when it is in no later look at its process', () => {
    expect(thread(looks([block({ blockedFor: 20 }), block({ blockedFor: 21 }), idle(2624, 5)]))).toMatchObject({
      moved: 'moved',
    });
  });

  it('has stood since the look in which it came to where it stands', () => {
    const found = thread(
      looks([block({ syscall: READ, blockedFor: 0.1 }), ...[0.8, 1.8, 2.8].map(blockedFor => block({ blockedFor }))]),
    );
    expect(found).toMatchObject({ moved: 'never', seen: 3, looks: 4, blockedForMs: 2800 });
  });

  it('was seen once when there was one look', () => {
    expect(thread(looks([block({})]))).toMatchObject({ moved: 'once', unchanged: [], blockedForMs: 20_000 });
  });

  it('is the same by call and stack alone on a kernel without the clock, and says so', () => {
    const found = thread(looks([block({ blockedFor: null }), block({ blockedFor: null })]));
    expect(found).toMatchObject({ moved: 'never', blockedForMs: null, seenForMs: 998 });
    expect(found.unchanged).toEqual(['system call and arguments', 'kernel stack']);
  });

  it('is not taken for one that moved where its clock was bent, whatever those of other CPUs say; of CPU time nothing is said', () => {
    const at = (age: number, others: number) =>
      block({ blockedFor: age }) + [2640, 2641, 2642].map((tid, index) => idle(tid, others + index)).join('');
    // A hypervisor takes half of its CPU: the clock is read once more before the next look, or is not.
    for (const later of [14, 16.7]) {
      const facts = looks([at(15.2, 10.2), at(later, 11.2)]);
      expect(thread(facts)).toMatchObject({ moved: 'never', blockedForMs: Math.round(later * 10) * 100 });
      expect(thread(facts).unchanged).toEqual(['system call and arguments', 'kernel stack']);
      expect(thread(facts, 2640).unchanged).toContain('no CPU time and no context switch');
    }
    // One that ran in between is younger than the time since, or much younger than before.
    for (const later of [0.3, 1.1]) {
      expect(thread(looks([at(15.2, 10.2), at(later, 11.2)]))).toMatchObject({ moved: 'moved' });
    }
  });

  it('of a bundle that was cut before its manifest stood by what its dumps say', () => {
    const found = thread(
      looks(
        [20, 21].map(blockedFor => block({ blockedFor })),
        { manifest: null },
      ),
    );
    expect(found).toMatchObject({ moved: 'never', seen: 2, blockedForMs: 21_000 });
    expect(found.unchanged).not.toContain('no CPU time and no context switch');
  });

  it('names calls by the architecture', () => {
    const arm = looks([block({ syscall: '39 0x1 0x0 0x0 0x0 0x0 0x0 0x1 0x2' })], { architecture: 'arm64' });
    expect(thread(arm).call).toMatchObject({ name: 'umount2', number: 39 });
    expect(thread(looks([block({ syscall: '39 0x1 0x0 0x0 0x0 0x0 0x0 0x1 0x2' })])).call?.name).toBe('getpid');
  });

  it('takes a page fault for one, and a kernel thread for one without a call', () => {
    expect(thread(looks([block({ syscall: '-1 0x7ffc 0x65d863' })]))).toMatchObject({ call: null, inPageFault: true });
    expect(thread(looks([block({ syscall: '0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0' })])).call).toBeNull();
  });

  it('has no stack where there was no right to read it', () => {
    const text =
      '===== 2631 containerd-shim D ? blocked for 20.0 =====\n(syscall: EPERM)\n(stack: EACCES)\n(wchan: EACCES)\n';
    const facts = looks([text]);
    expect(thread(facts)).toMatchObject({ stack: null, call: null, wchan: null });
    expect(facts.threads).toMatchObject({ stacks: 'none', wchans: 'none' });
  });
});

describe('whose a thread is', () => {
  const processes = `  PID   TID  PPID STAT WCHAN                                ELAPSED COMMAND
 2623  2623     1 Sl   futex_do_wait                       01:00:00 /usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id x
 2700  2700  2623 Ss   do_wait                                05:00 sh -c run
 2710  2710  2700 D    request_wait_answer                    04:00 cp /mnt/a /mnt/b
 2800  2800  2623 Sl   do_wait                                00:20 runc --root /run/containerd/runc/k8s.io delete --force x
    9     9     2 D    jbd2_log_wait_commit             2-03:00:00 [jbd2/sda1-8]
`;
  const facts = looks([block({})], {
    entries: {
      'node/processes.txt': processes,
      'node/blocked.txt': {
        text: `# process 2710 cp\n${block({ tid: 2710, comm: 'cp', wchan: 'request_wait_answer' })}# process 9 jbd2/sda1-8\n${block({ tid: 9, comm: 'jbd2/sda1-8' })}`,
        offsetMs: 500,
      },
      [`containers/${CONTAINER_ID}/threads-1.txt`]: `# process 2700 sh\n${block({ tid: 2700, comm: 'sh', state: 'S', wchan: 'do_wait' })}`,
      'shim/children-1.txt': `# process 2800 runc\n${block({ tid: 2800, comm: 'runc', state: 'S', wchan: 'do_wait' })}# process 2801 runc:[2:INIT]\n${block({ tid: 2801, comm: 'runc:[2:INIT]', state: 'S' })}`,
    },
  });

  it('is told by the tree of processes', () => {
    const roles = Object.fromEntries(
      facts.threads?.all.map(({ tid, role, container }) => [tid, [role, container]]) ?? [],
    );
    expect(roles).toEqual({
      2631: ['shim', null],
      2700: ['init', CONTAINER_ID],
      2710: ['application', CONTAINER_ID],
      2800: ['runc', null],
      2801: ['runc init', null],
    });
  });

  it('leaves those of the node in D that are of nobody here among the others', () => {
    expect(facts.nodeThreads?.blocked.map(({ tid, role }) => [tid, role])).toEqual(
      expect.arrayContaining([
        [9, 'other'],
        [2710, 'application'],
      ]),
    );
  });

  it('counts processes once, with their threads and ages', () => {
    expect(facts.processes?.byPid.get(9)).toMatchObject({
      ageMs: (2 * 24 + 3) * 3_600_000,
      args: '[jbd2/sda1-8]',
      threadsInD: 1,
    });
    expect(facts.processes?.children.get(2623)?.map(({ pid }) => pid)).toEqual([2700, 2800]);
  });
});

describe('threads of real captures', () => {
  it('of a shim that unmounts onto a slow disk: one in D that never moved', () => {
    const stuck = factsOfBundle('overlay-umount-sync').threads?.all.filter(({ state }) => state === 'D') ?? [];
    expect(stuck).toMatchObject([
      { role: 'shim', moved: 'never', call: { name: 'umount2' }, wchan: 'wb_wait_for_completion' },
    ]);
  });

  it('of a runc init that waits for a FUSE server: asleep, and it never moved', () => {
    const stuck = factsOfBundle('fuse-hang').threads?.all.filter(({ wchan }) => wchan === 'request_wait_answer') ?? [];
    expect(stuck).toMatchObject([{ role: 'runc init', state: 'S', moved: 'never' }]);
  });

  it('of a sync(1) by somebody else: none of the pod', () => {
    const facts = factsOfBundle('somebody-syncs');
    expect(facts.threads?.all.filter(({ state }) => state === 'D')).toEqual([]);
    expect(facts.nodeThreads?.blocked.map(({ comm }) => comm)).toContain('sync');
  });
});
