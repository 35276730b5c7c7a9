import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { shimAnswers } from '../../../src/collectors/shim-answers.ts';
import { createHost } from '../../../src/host/linux.ts';
import { type ListDocument, listAnswer } from '../../../src/sandbox/list-answer.ts';
import { collect } from '../../collectors/collect.ts';
import { askForDump, expectWhole } from '../../collectors/dump-expectations.ts';
import { startContainerd } from '../containerd.ts';
import { openFolder } from '../folder.ts';
import { labUnavailable } from '../requirements.ts';
import { containerdOf, VERSIONS } from './versions.ts';

const [, OLDER, NEWER] = VERSIONS;

it.skipIf(labUnavailable())(
  'after an upgrade to containerd 2.x a shim of 1.7 and one of 2.x are each asked by the API that they serve',
  async ({ skip }) => {
    const [older, newer] = [await containerdOf(OLDER), await containerdOf(NEWER)];
    if ('reason' in older) return skip(older.reason);
    if ('reason' in newer) return skip(newer.reason);
    await using folder = await openFolder();
    const before = await startContainerd({ folder, ...older });
    const old = await before.runPod({ name: 'old', namespace: 'shop' });
    await before[Symbol.asyncDispose]();

    await using after = await startContainerd({ folder, ...newer });
    const young = await after.runPod({ name: 'young', namespace: 'shop' });
    const versionOf = (bundle: string) => JSON.parse(readFileSync(join(bundle, 'bootstrap.json'), 'utf8')).version;
    expect(versionOf(young.bundle)).toBe(3);
    // containerd 2 writes the file for a shim of before, too.
    expect(existsSync(join(old.bundle, 'address'))).toBe(true);

    for (const [pod, service] of [
      [old, 'containerd.task.v2.Task'],
      [young, 'containerd.task.v3.Task'],
    ] as const) {
      const { evidence } = await collect(pod.id, [shimAnswers]);
      const answered = JSON.parse(evidence.get('runtime/shim.json')?.body.toString() ?? '[]').filter(
        ({ outcome }: { outcome: string }) => outcome === 'ok',
      );
      expect(answered).toMatchObject([
        { call: 'Connect', service, answer: { shimPid: pod.shimPid } },
        { call: 'State', service, container: pod.id, answer: { status: 'RUNNING', pid: pod.initPid } },
      ]);
      expectWhole(await askForDump(pod.id));
    }

    const host = createHost();
    try {
      const listed = await listAnswer(
        host,
        { matchedBy: 'all', shims: [], firstStackMs: null },
        { check: true, probe: true },
      );
      const { probe = [] } = listed.json as ListDocument;
      const own = probe.filter(({ id }) => id === old.id || id === young.id);
      expect(own.map(({ pid, outcome, answeredBy }) => ({ pid, outcome, answeredBy }))).toEqual(
        [old, young]
          .map(({ shimPid: pid }) => ({ pid, outcome: 'ok', answeredBy: pid }))
          .toSorted((a, b) => a.pid - b.pid),
      );
    } finally {
      await host.close();
    }
  },
);
