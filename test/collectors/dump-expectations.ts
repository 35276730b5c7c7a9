import { expect } from 'vitest';
import { goroutineDump } from '../../src/collectors/goroutine-dump.ts';
import { goroutineSignal } from '../../src/collectors/goroutine-signal.ts';
import { type Containerd, startContainerd } from '../lab/containerd.ts';
import { during } from '../lab/during.ts';
import type { Pod } from '../lab/pod.ts';
import { until } from '../lab/wait.ts';
import { type Collected, type CollectOptions, collect } from './collect.ts';

export const askForDump = (id: string, options?: CollectOptions) =>
  collect(id, [goroutineSignal, goroutineDump], options);

export const withPod = (
  options: Parameters<typeof startContainerd>[0],
  use: (containerd: Containerd, pod: Pod) => Promise<void>,
): Promise<void> =>
  during(startContainerd(options), async containerd => {
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    await use(containerd, pod);
  });

const WHOLE =
  /^=== BEGIN goroutine stack dump ===\ngoroutine \d+ \[running\]:\n[\s\S]*\n=== END goroutine stack dump ===$/;

/** Sent once, and complete with real line ends. @returns the dump */
export function expectWhole(collected: Collected): string {
  const { evidence, signals, notGot } = collected;
  expect(notGot).toEqual([]);
  const verdicts = signals.map(({ outcome, dump }) => ({ outcome, dump }));
  expect(verdicts, steps(collected)).toEqual([{ outcome: 'sent', dump: 'complete' }]);
  const dump = evidence.get('shim/goroutines.txt');
  expect(dump).toMatchObject({ outcome: 'ok' });
  const text = dump?.body.toString() ?? '';
  expect(text).toMatch(WHOLE);
  expect(text).toContain('\n\tgithub.com/containerd/');
  // Behind k0s it is quoted once more.
  const raw = /^time="[^"]+" level=info msg="(?:time=\\"[^"]+\\" level=info msg=\\")?=== BEGIN /;
  expect(evidence.get('shim/goroutines.raw.log')?.body.toString()).toMatch(raw);
  return text;
}

/** Beside a containerd that reads, too: whole, unless the machine was too busy to give our reader its priority and room in time. */
export function expectWon(collected: Collected, cause: string): void {
  const given = ['real-time priority for our reader: ok', 'widen the pipe from 64 KiB to 1 MiB: ok'];
  if (given.every(step => steps(collected).includes(step))) expectWhole(collected);
  else {
    const [record] = collected.signals;
    const verdicts = [
      'complete',
      expect.stringMatching(
        new RegExp(`^(truncated|lost) \\((at goroutine \\d+|containerd took it: ${cause}: .*)\\)$`),
      ),
    ];
    expect(verdicts).toContainEqual(record?.dump);
  }
}

export function expectNotSent({ evidence, signals }: Collected, why: RegExp, outcome: string): void {
  const [record] = signals;
  expect(record?.outcome).toMatch(why);
  expect(record?.dump).toMatch(why);
  const dump = evidence.get('shim/goroutines.txt');
  expect(dump).toMatchObject({ outcome, detail: expect.stringMatching(why) });
  expect(dump?.body).toHaveLength(0);
}

export const steps = ({ signals }: Collected): string =>
  signals.flatMap(record => record.steps.map(({ step, result }) => `${step}: ${result}`)).join('\n');

/** containerd asks every shim for the state of its containers; on a busy machine that may take a second try. */
export async function expectAnswers(containerd: Containerd, pod: Pod): Promise<void> {
  const running = new RegExp(`${pod.id} +\\d+ +RUNNING`);
  await until('the shim to answer', 20_000, async () =>
    running.test(await containerd.ctr(['task', 'ls'], 5000).catch(() => '')),
  );
}
