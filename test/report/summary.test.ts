import { describe, expect, it } from 'vitest';
import type { Item, NotGot } from '../../src/bundle/manifest.ts';
import type { SignalRecord } from '../../src/bundle/signal-record.ts';
import { blockedElsewhere, blockedThreads } from '../../src/report/blocked.ts';
import { type Captured, summaryLines, summaryMarkdown } from '../../src/report/summary.ts';
import type { Container, Shim, Target } from '../../src/sandbox/types.ts';

const ID = '4f5e6d7c8b9a'.padEnd(64, '0');
/** Six arguments, stack and instruction pointer. */
const ARGS = '0x1 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x5f500e';
const UMOUNT = `166 ${ARGS}\n[<0>] wb_wait_for_completion+0x81/0xb0`;
const EPOLL = `232 ${ARGS}\n[<0>] do_epoll_wait+0x548/0x5a0`;

const process = (pid: number, comm: string, ...threads: readonly string[]) =>
  `# process ${pid} ${comm}\n${threads.join('\n')}\n`;
const thread = (tid: number, comm: string, state: string, wchan: string, age: string, rest: string) =>
  `===== ${tid} ${comm} ${state} ${wchan} blocked for ${age} =====\n${rest}`;

const inUmount = (age: string) => thread(2630, 'containerd-shim', 'D', 'wb_wait_for_completion', age, UMOUNT);
const idle = thread(2623, 'containerd-shim', 'S', 'do_epoll_wait', '0.1', EPOLL);
const shimLook = (...threads: readonly string[]) => process(2623, 'containerd-shim', ...threads);

function sandbox(docker: boolean, ...pids: readonly number[]): Target {
  const containers = [
    { id: ID, kind: docker ? 'container' : 'sandbox', name: docker ? 'registry' : null },
    ...(docker ? [] : [{ id: 'a', kind: 'container', name: 'app' }]),
  ] as unknown as readonly Container[];
  return {
    kind: 'sandbox',
    asked: 'web-0',
    how: 'pod name',
    sandbox: {
      ...{ id: ID, namespace: docker ? 'moby' : 'k8s.io', runtime: docker ? 'docker' : 'containerd', containers },
      pod: docker ? null : { name: 'web-0', namespace: 'shop', uid: null },
      shims: pids.map(pid => ({ pid }) as Shim),
    },
  };
}

function captured(dumps: Readonly<Record<string, string>>, more: Partial<Captured> = {}): Captured {
  return {
    ...{ target: sandbox(false, 2623), content: { items: [], notGot: [] }, signals: [], architecture: 'x64' },
    threadDumps: new Map(Object.entries(dumps)),
    report: null,
    ...more,
  };
}

describe('a thread of the pod', () => {
  it('is blocked when it stands at the same place in two looks, and is told with call, place and age', () => {
    const dumps = {
      'shim/threads-1.txt': shimLook(idle, inUmount('20.2')),
      'shim/threads-2.txt': shimLook(inUmount('21.2')),
    };
    expect(summaryLines(captured(dumps))).toEqual([
      'Captured: shop/web-0, sandbox 4f5e6d7c8b9a, shim 2623, 1 container',
      'Blocked: 1 thread of this pod',
      '  containerd-shim 2630 (shim) in umount2, wb_wait_for_completion, state D, for 21.2 s, the same stack in 2 of 2 looks',
      'Missing: nothing',
    ]);
  });

  it('that went on between two looks waited for something that came', () => {
    const elsewhere = inUmount('0.1').replace('wb_wait_for_completion+', 'folio_wait_bit+');
    const dumps = { 'shim/threads-1.txt': shimLook(elsewhere), 'shim/threads-2.txt': shimLook(inUmount('0.2')) };
    expect(summaryLines(captured(dumps))).toContain('Blocked: no thread of this pod was seen blocked');
    expect(blockedThreads(new Map([['shim/threads-1.txt', shimLook(idle)]]), 'x64')).toEqual([]);
  });
});

describe('what is blocked elsewhere on the node', () => {
  const frozen = (pid: number, comm: string, age: string) =>
    process(pid, comm, thread(pid, comm, 'D', 'percpu_rwsem_wait', age, `82 ${ARGS}\n[<0>] percpu_rwsem_wait+0x1/0x2`));
  const node =
    frozen(900, 'dd', '50.0') +
    frozen(700, 'containerd', '3.2') +
    frozen(901, 'kworker/u4:1', '0.2') +
    shimLook(inUmount('3.0')) +
    process(800, 'nginx', thread(800, 'nginx', 'S', 'do_epoll_wait', '9.0', EPOLL));

  it('is told when the pod waits for it: the runtime first, nothing that waits for a moment, nothing twice', () => {
    const dumps = { 'shim/threads-1.txt': shimLook(idle), 'node/blocked.txt': node };
    expect(summaryLines(captured(dumps))).toContain(
      'Besides: containerd 700 in rename, percpu_rwsem_wait, state D, for 3.2 s; and 1 more of the node in D',
    );
    expect(blockedElsewhere(captured(dumps).threadDumps, 'x64').map(({ tid }) => tid)).toEqual([700, 900]);
  });

  it('is all there is to tell of a node', () => {
    const target: Target = { kind: 'node', asked: null, how: '--node' };
    expect(summaryLines(captured({ 'node/blocked.txt': frozen(900, 'dd', '50.0') }, { target }))).toEqual([
      'Captured: the node alone',
      'Blocked: 1 thread of the node',
      '  dd 900 in rename, percpu_rwsem_wait, state D, for 50.0 s',
      'Missing: nothing',
    ]);
  });
});

describe('a verdict', () => {
  const dumps = { 'shim/threads-1.txt': shimLook(inUmount('20.2')), 'node/blocked.txt': shimLook(idle) };
  const step = { rule: 'overlay-umount-sync', verdict: 'proved', says: 'thread 2630 in D in umount2' } as const;
  const headline = 'The overlay of web-0 is written back before it is unmounted.';

  it('comes right after who it is about; the wait chain where it says more', () => {
    const chain = { sentence: 'CRI still says running ← thread 2630', steps: [step, step], endsBefore: null };
    const lines = summaryLines(captured(dumps, { report: { headline, outcome: 'stall', chain } }));
    expect(lines.slice(1, 3)).toEqual([`Verdict: ${headline}`, 'Why: CRI still says running ← thread 2630']);
    const short = { sentence: 'thread 2630', steps: [step], endsBefore: null };
    const alone = summaryLines(captured(dumps, { report: { headline, outcome: 'stall', chain: short } }));
    expect(alone.filter(line => line.startsWith('Why: '))).toEqual([]);
  });
});

describe('the closing words', () => {
  const signal = (pid: number, dump: string) => ({ pid, dump }) as SignalRecord;
  const gap = (path: string): Item => ({ path, outcome: 'timeout', detail: 'x'.repeat(500), collector: 'c' }) as Item;

  it('call a container of docker by its name, and tell of the dumps of all shims of a pod in one line', () => {
    expect(summaryLines(captured({}, { target: sandbox(true, 1) }))[0]).toBe(
      'Captured: registry, sandbox 4f5e6d7c8b9a, shim 1, 1 container',
    );
    const signals = [signal(1, 'complete'), signal(2, 'lost (no reader)')];
    expect(summaryLines(captured({}, { signals, target: sandbox(false, 1, 2) }))).toContain(
      'Goroutine dumps: shim 1 complete, shim 2 lost (no reader)',
    );
  });

  it('stay short, whatever went wrong, and have no control characters', () => {
    const many = Array.from({ length: 9 }, (_, at) => inUmount('20.2').replaceAll('2630', String(3000 + at)));
    const dumps = {
      'shim/threads-1.txt': shimLook(...many),
      'node/blocked.txt': process(9, 'c\\x1b[2J', thread(9, 'dd', 'D', 'x', '5.0', `82 ${ARGS}\n[<0>] x+0x1/0x2`)),
    };
    const notGot: readonly NotGot[] = [
      { what: 'rest\x1b[31m', collector: 'c', phase: 'ask', outcome: 'timeout', detail: 'gave\nup' },
    ];
    const content = { items: ['a', 'b', 'c'].map(gap), notGot };
    const lines = summaryLines(captured(dumps, { content, signals: [signal(1, 'complete'), signal(2, 'complete')] }));
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
    expect(lines).toContain('Missing: 4 pieces; all of them stand in manifest.json');
    expect(lines.every(line => line.length <= 200)).toBe(true);
    const markdown = summaryMarkdown(captured(dumps, { content }), '2026-01-02T03:04:05.006Z', 'node7');
    expect(markdown.split('\n')[0]).toBe('# shop/web-0, sandbox 4f5e6d7c8b9a, shim 2623, 1 container');
  });
});
