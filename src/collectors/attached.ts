import { basename } from 'node:path';
import type { Collector } from './collector.ts';
import { deadlineOf, entryPart, evidenceOf } from './evidence-of.ts';
import { listing } from './listing.ts';

/** `kubectl describe pod` has some kilobytes, all events of a namespace some hundred. */
const MAX_BYTES = 4 << 20;

/**
 * attached/<name>: files that the user names (`--attach`), with what kubectl says of the pod; their times in attached/files.txt, since
 * tables of events have ages. Read by a probe: they may lie on the disk that hangs.
 */
export const attached: Collector = {
  name: 'attached',
  phase: 'files',
  deadlineMs: 4000,
  onRequest: ({ attach }) => attach.length > 0,
  async *collect(capture) {
    const { attach } = capture.options;
    const files = await capture.host.readRisky(
      attach.map(path => ({ path, withStat: true, follow: true, maxBytes: MAX_BYTES })),
      deadlineOf(capture),
    );
    const names = namesOf(attach);
    for (const [index, file] of files.entries()) yield evidenceOf(`attached/${names[index]}`, file);
    const rows = files.map((file, index) => ({ name: names[index] ?? '', file }));
    const body = listing('what was attached', capture.host.now().wall, rows);
    yield { path: 'attached/files.txt', source: attach.join(' '), outcome: 'ok', body };
  },
};

/** No two the same, and none that is the list's. */
function namesOf(paths: readonly string[]): readonly string[] {
  const taken = new Set(['files.txt']);
  return paths.map(path => {
    const plain = entryPart(basename(path));
    let name = plain;
    for (let n = 2; taken.has(name); n += 1) name = `${n}-${plain}`;
    taken.add(name);
    return name;
  });
}
