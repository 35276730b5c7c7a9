import { setTimeout as sleep } from 'node:timers/promises';
import { VIEWS_PATH, writeViews } from '../../formats/views/document.ts';
import { judgeViews } from '../../formats/views/judge.ts';
import type { ContainerViews, View } from '../../formats/views/view.ts';
import { passiveViews } from '../../sandbox/passive-views.ts';
import type { Sandbox } from '../../sandbox/types.ts';
import type { Capture, Collector } from '../collector.ts';
import { timeFor } from '../evidence-of.ts';
import { leaveView, leftShims, leftViews } from './left-views.ts';

const READ_MS = 1500;
/** A source that disagrees may only be late: files and /proc are read once more when its time is over. */
const AGAIN_MS = 1050;

/**
 * The passive sources before anybody is asked: that a process is gone since then is what a source that says "running" later
 * is judged by. Brings nothing itself.
 */
export const viewsBefore: Collector = {
  name: 'views-before',
  phase: 'files',
  deadlineMs: 3000,
  targets: ['sandbox'],
  // biome-ignore lint/correctness/useYield: its evidence comes with views
  async *collect(capture) {
    if (capture.target.kind === 'sandbox') await readPassive(capture, capture.target.sandbox);
  },
};

/**
 * runtime/views.json: what every source says of each container, with its time: /proc, runc, the shim, CRI's status file,
 * CRI, docker's config.v2.json, docker. Who is wrong is not written down: formats/views/judge.ts tells it from this.
 */
export const views: Collector = {
  name: 'views',
  phase: 'linger',
  deadlineMs: 6000,
  targets: ['sandbox'],
  async *collect(capture) {
    if (capture.target.kind !== 'sandbox') return;
    const { sandbox } = capture.target;
    const startMs = capture.host.now().offsetMs;
    await readPassive(capture, sandbox);
    if (all(capture, sandbox).some(container => judgeViews(container).open)) {
      await sleep(Math.min(AGAIN_MS, capture.remainingMs()));
      await readPassive(capture, sandbox);
    }
    yield {
      path: VIEWS_PATH,
      source: '/proc, runc, shim, status files, CRI, docker',
      outcome: 'ok',
      body: Buffer.from(writeViews({ format: 1, shims: leftShims(capture), containers: all(capture, sandbox) })),
      at: { offsetMs: startMs, durationMs: capture.host.now().offsetMs - startMs },
    };
  },
};

async function readPassive(capture: Capture, sandbox: Sandbox): Promise<void> {
  const deadlineMs = timeFor(capture, READ_MS);
  const read = await passiveViews(capture.host, sandbox, capture.inventory.daemons, deadlineMs);
  for (const [id, seen] of read) leaveView(capture, id, ...seen);
}

function all(capture: Capture, { containers }: Sandbox): readonly ContainerViews[] {
  const left = leftViews(capture);
  const byTime = (a: View, b: View) => Date.parse(a.at) - Date.parse(b.at);
  return containers.map(({ id, kind, name }) => {
    return { id, kind, name, views: (left.get(id) ?? []).toSorted(byTime) };
  });
}
