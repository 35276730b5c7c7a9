import { describe, expect, it, type TestContext } from 'vitest';
import { askForDump, expectAnswers, expectWhole, steps } from '../../collectors/dump-expectations.ts';
import { type ContainerdOptions, startContainerd } from '../containerd.ts';
import { during } from '../during.ts';
import { status } from '../proc.ts';
import { signal } from '../processes.ts';
import { labUnavailable } from '../requirements.ts';
import { loggingToJournald } from '../stalls/journald-stopped.ts';
import { logSinkFull } from '../stalls/log-sink-full.ts';
import { until } from '../wait.ts';
import { idleConnections } from './connections.ts';
import { containerdOf, VERSIONS } from './versions.ts';

/** Several dumps of one shim within the ten seconds that a grab otherwise leaves between two signals. */
const AGAIN = { signalAgain: true };
const PIPE_BYTES = 65_536;

function expectLarge(text: string): void {
  expect(text.match(/^goroutine \d+ /gm)?.length).toBeGreaterThan(300);
  // It does not fit into the pipe: somebody has to read while it is being written.
  expect(text.length).toBeGreaterThan(PIPE_BYTES);
}

describe.skipIf(labUnavailable()).each(VERSIONS)('a dump of 150 connections to a shim of $version', version => {
  const withBinaries = async (
    { skip }: Pick<TestContext, 'skip'>,
    use: (options: Pick<ContainerdOptions, 'bin'>) => Promise<void>,
  ) => {
    const binaries = await containerdOf(version);
    if ('reason' in binaries) return skip(binaries.reason);
    await use(binaries);
  };

  it('is whole out of a file, and out of the fifo of a containerd that is stopped, or dead', context =>
    withBinaries(context, options =>
      during(startContainerd(options), async containerd => {
        const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
        using _ = await idleConnections(pod, 150);
        const logged = await askForDump(pod.id, AGAIN);
        expectLarge(expectWhole(logged));
        expect(logged.evidence.get('shim/goroutines.txt')?.source).toMatch(/\/containerd\.log$/);

        signal(containerd.pid, 'SIGSTOP');
        try {
          await until('containerd to be stopped', 5000, () => status(containerd.pid)?.state === 'T');
          const stopped = await askForDump(pod.id, AGAIN);
          expectLarge(expectWhole(stopped));
          expect(steps(stopped)).toContain('it is stopped (T); so the fifo is opened before the signal');
        } finally {
          signal(containerd.pid, 'SIGCONT');
        }
        await expectAnswers(containerd, pod);

        await containerd.kill();
        const dead = await askForDump(pod.id, AGAIN);
        expectLarge(expectWhole(dead));
        expect(steps(dead)).toMatch(/no containerd serves .*; so the fifo is opened before the signal/);
        await containerd.start();
        await expectAnswers(containerd, pod);
      }),
    ));

  it('is whole out of the journal, which has it in pieces', context =>
    withBinaries(context, options =>
      during(loggingToJournald(options), async ({ containerd, pod, entries }) => {
        using _ = await idleConnections(pod, 150);
        const collected = await askForDump(pod.id);
        expectLarge(expectWhole(collected));
        // A journalctl that is not quick enough on a busy machine costs the cursor, not the dump.
        expect(steps(collected)).toMatch(/newest entry of the journal: (?:s=[0-9a-f]+;i=|not told in time)/);
        expect((await entries()).filter(entry => entry['_LINE_BREAK'] === 'line-max').length).toBeGreaterThan(1);
        await expectAnswers(containerd, pod);
      }),
    ));

  it('is taken before a containerd gets it whose log nobody reads', context =>
    withBinaries(context, options =>
      during(logSinkFull(options), async ({ containerd, pod, readerPid }) => {
        using _ = await idleConnections(pod, 150);
        const collected = await askForDump(pod.id);
        expectLarge(expectWhole(collected));
        expect(steps(collected)).toMatch(
          new RegExp(`containerd ${containerd.pid}: thread \\d+ is blocked in write to descriptor 2`),
        );
        // One read of containerd's is all that could be lost of it: it had an empty line instead.
        expect(steps(collected)).toMatch(/an empty line went in first, for whoever reads beside us: /);
        signal(readerPid, 'SIGCONT');
        await expectAnswers(containerd, pod);
      }),
    ));
});
