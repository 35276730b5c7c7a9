import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { goroutineDump } from '../../src/collectors/goroutine-dump.ts';
import { goroutineSignal } from '../../src/collectors/goroutine-signal.ts';
import { type Containerd, startContainerd } from '../lab/containerd.ts';
import { during } from '../lab/during.ts';
import type { Pod } from '../lab/pod.ts';
import { alive, status, threads } from '../lab/proc.ts';
import { signal } from '../lab/processes.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { containerdDead, containerdStopped } from '../lab/stalls/containerd-stopped.ts';
import { epollCtlDelayed } from '../lab/stalls/epoll-ctl-delayed.ts';
import { journaldStopped, loggingToJournald } from '../lab/stalls/journald-stopped.ts';
import { logSinkFull } from '../lab/stalls/log-sink-full.ts';
import { delaySyscall } from '../lab/strace.ts';
import { until } from '../lab/wait.ts';
import { type Collected, type CollectOptions, collect } from './collect.ts';

const askForDump = (id: string, options?: CollectOptions) => collect(id, [goroutineSignal, goroutineDump], options);

const WHOLE =
  /^=== BEGIN goroutine stack dump ===\ngoroutine \d+ \[running\]:\n[\s\S]*\n=== END goroutine stack dump ===$/;

function expectWhole({ evidence, signals, notGot }: Collected): string {
  expect(notGot).toEqual([]);
  expect(signals.map(({ outcome, dump }) => ({ outcome, dump }))).toEqual([{ outcome: 'sent', dump: 'complete' }]);
  const dump = evidence.get('shim/goroutines.txt');
  expect(dump).toMatchObject({ outcome: 'ok' });
  const text = dump?.body.toString() ?? '';
  expect(text).toMatch(WHOLE);
  expect(text).toContain('\n\tgithub.com/containerd/');
  expect(evidence.get('shim/goroutines.raw.log')?.body.toString()).toMatch(
    /^time="[^"]+" level=info msg="=== BEGIN .* pid=\d+/,
  );
  return text;
}

const steps = ({ signals }: Collected) =>
  signals.flatMap(record => record.steps.map(({ step, result }) => `${step}: ${result}`));

/** containerd asks every shim for the state of its containers here. */
async function expectAnswers(containerd: Containerd, pod: Pod): Promise<void> {
  expect(await containerd.ctr(['task', 'ls'], 3000)).toMatch(new RegExp(`${pod.id} +\\d+ +RUNNING`));
}

const withPod = (
  options: Parameters<typeof startContainerd>[0],
  use: (containerd: Containerd, pod: Pod) => Promise<void>,
) =>
  during(startContainerd(options), async containerd => {
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    await use(containerd, pod);
  });

describe.skipIf(labUnavailable())('the goroutine dump of a shim', () => {
  it('comes whole out of the file that containerd logs to, and nobody else reads the fifo', () =>
    withPod({}, async (containerd, pod) => {
      const text = expectWhole(await askForDump(pod.id));
      const log = containerd.log();
      expect(log.match(/=== BEGIN goroutine stack dump ===/g)).toHaveLength(1);
      expect(text.match(/^goroutine \d+ /gm)?.length).toBe(log.match(/\\ngoroutine \d+ /g)?.length);
      await expectAnswers(containerd, pod);
    }));

  it('is the one that answers our signal, not one that somebody asked for before', () =>
    withPod({}, async (containerd, pod) => {
      signal(pod.shimPid, 'SIGUSR1');
      await until('the first dump', 5000, () => containerd.log().includes('=== END goroutine'));
      await sleep(200);
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      const raw = collected.evidence.get('shim/goroutines.raw.log')?.body.toString() ?? '';
      const [first, second] = containerd
        .log()
        .split('\n')
        .filter(line => line.includes('BEGIN goroutine'));
      expect(second).toBe(raw.trimEnd());
      expect(first).not.toBe(raw.trimEnd());
    }));

  it('comes through a pipe out of the file that its reader keeps', () =>
    withPod({ stderr: 'pipe' }, async (containerd, pod) => {
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(collected.evidence.get('shim/goroutines.txt')?.source).toBe(
        join(containerd.folder.path, 'containerd.log'),
      );
      expect(steps(collected).join()).toMatch(/is pipe:\[\d+\], read by cat \d+: which writes .*containerd\.log/);
    }));

  it('of 150 connections, cut to pieces by journald, comes whole out of the journal', () =>
    during(loggingToJournald(), async ({ containerd, pod, entries }) => {
      const address = readFileSync(join(pod.bundle, 'address'), 'utf8').replace('unix://', '');
      const sockets = Array.from({ length: 150 }, () => connect(address).on('error', () => undefined));
      try {
        await until('a goroutine per connection', 5000, async () => sockets.every(socket => !socket.connecting));
        const text = expectWhole(await askForDump(pod.id));
        expect(text.match(/^goroutine \d+ /gm)?.length).toBeGreaterThan(300);
        expect((await entries()).filter(entry => entry['_LINE_BREAK'] === 'line-max').length).toBeGreaterThan(1);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      await expectAnswers(containerd, pod);
    }));

  it('is drained when containerd is stopped', () =>
    during(containerdStopped(), async ({ containerd, pod }) => {
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected).join()).toContain(
        `containerd ${containerd.pid}: it is stopped (T); so the fifo is opened before`,
      );
      signal(containerd.pid, 'SIGCONT');
      await expectAnswers(containerd, pod);
    }));

  it('is drained behind dumps that have filled the pipe, and the record says what that did to the shim', () =>
    during(containerdStopped(), async ({ containerd, pod }) => {
      for (let sent = 0; sent < 8; sent += 1) {
        signal(pod.shimPid, 'SIGUSR1');
        await sleep(50);
      }
      await until('the logger of the shim to be blocked', 5000, () =>
        threads(pod.shimPid).find(({ wchan }) => wchan.endsWith('pipe_write')),
      );
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected).join('\n')).toMatch(
        /1 threads of the shim were blocked in a write to a full pipe, which reading ends/,
      );
      const fifo = collected.evidence.get('shim/log-fifo.txt')?.body.toString() ?? '';
      expect(fifo.match(/=== END goroutine stack dump ===/g)).toHaveLength(9);
      expect(threads(pod.shimPid).some(({ wchan }) => wchan.endsWith('pipe_write'))).toBe(false);
      signal(containerd.pid, 'SIGCONT');
      await expectAnswers(containerd, pod);
    }));

  it('is drained when containerd is dead', () =>
    during(containerdDead(), async ({ containerd, pod }) => {
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected).join()).toMatch(/no containerd serves .*: nobody reads the fifo/);
      await containerd.start();
      await expectAnswers(containerd, pod);
    }));

  it('is taken before a containerd gets it that cannot write its log', () =>
    during(logSinkFull(), async ({ containerd, pod }) => {
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected).join()).toMatch(
        new RegExp(`containerd ${containerd.pid}: thread \\d+ is blocked in write to descriptor 2`),
      );
    }));

  it('is taken before containerd gets it when journald is stopped', () =>
    during(journaldStopped(), async ({ pod, journaldPid }) => {
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected).join()).toContain(`behind containerd systemd-journald ${journaldPid} is in state T`);
    }));

  it('is drained after all when a containerd that looks well does not read', () =>
    withPod({}, async (containerd, pod) => {
      await using _ = await delaySyscall(containerd.folder, containerd.pid, 'read', 30_000);
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected).join()).toMatch(
        /look into the log: .*: no dump of ours in it.*read the fifo after all: ok/s,
      );
    }));

  it('is taken before a containerd gets it that logs to /dev/null', () =>
    withPod({ prefix: ['sh', '-c', 'exec "$@" 2>/dev/null', 'sh'] }, async (containerd, pod) => {
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected).join()).toMatch(
        /descriptor 2 of containerd \d+ is \/dev\/null; so the fifo is read beside/,
      );
      expect(steps(collected)).toContain('real-time priority for our reader: ok');
      await expectAnswers(containerd, pod);
    }));
});

describe.skipIf(labUnavailable())('no signal is sent', () => {
  async function expectNotSent(collected: Collected, why: RegExp, outcome: string): Promise<void> {
    const [record] = collected.signals;
    expect(record?.outcome).toMatch(why);
    expect(record?.dump).toMatch(why);
    const dump = collected.evidence.get('shim/goroutines.txt');
    expect(dump).toMatchObject({ outcome, detail: expect.stringMatching(why) });
    expect(dump?.body).toHaveLength(0);
  }

  it('when the user wants none', () =>
    withPod({}, async (containerd, pod) => {
      await expectNotSent(await askForDump(pod.id, { signal: false }), /^not sent \(--no-signal\)$/, 'absent');
      expect(containerd.log()).not.toContain('goroutine stack dump');
    }));

  it('to a shim with a thread that the Go runtime cannot stop, and the shim goes on answering', () =>
    during(epollCtlDelayed(), async ({ containerd, pod, thread }) => {
      const why = new RegExp(
        `^not sent \\(guard world can stop: thread ${thread.tid} hangs in epoll_ctl \\(t, ptrace_stop\\)`,
      );
      await expectNotSent(await askForDump(pod.id), why, 'error');
      await expectAnswers(containerd, pod);
    }));

  it('to a stopped shim, where it would stay pending', () =>
    withPod({}, async (containerd, pod) => {
      signal(pod.shimPid, 'SIGSTOP');
      try {
        await until('the shim to be stopped', 5000, () => status(pod.shimPid)?.state === 'T');
        const why = /^not sent \(guard not stopped or frozen: it is stopped \(T\): the signal would stay pending\)$/;
        await expectNotSent(await askForDump(pod.id), why, 'error');
      } finally {
        signal(pod.shimPid, 'SIGCONT');
      }
      await expectAnswers(containerd, pod);
      expect(containerd.log()).not.toContain('goroutine stack dump');
    }));

  it('to a shim that is gone', () =>
    withPod({}, async (_, pod) => {
      const kill = async () => {
        signal(pod.shimPid, 'SIGKILL');
        await until('the end of the shim', 5000, () => !alive(pod.shimPid));
      };
      await expectNotSent(await askForDump(pod.id, { before: kill }), /^not sent \(guard same process: /, 'error');
    }));
});

describe.skipIf(labUnavailable())('--force-signal', () => {
  it('signals past the last guard, says so, and waits for the dump no longer than it may', () =>
    during(epollCtlDelayed({ delayMs: 4000 }), async ({ containerd, pod }) => {
      const collected = await askForDump(pod.id, { forceSignal: true });
      expect(collected.signals[0]?.outcome).toBe('sent (forced past guard world can stop)');
      expect(collected.signals[0]?.guards.at(-1)).toMatchObject({ guard: 'world can stop', passed: false });
      expect(collected.ms).toBeLessThan(12_000);
      await until('the call to return', 8000, () => containerd.log().includes('END goroutine stack dump'));
    }));
});
