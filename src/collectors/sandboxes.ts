import { escapeColumn } from '../formats/escape.ts';
import type { Collector } from './collector.ts';

/**
 * node/sandboxes.txt: the names of all pods of the node that have a shim, so that whoever writes to its disks has a name:
 *
 *     4f5e6d7c8b9a… shop/batch-7 0d6f1c9e-6a53-4b53-9a43-0d1f5d3a8c11
 *
 * Known from the search for the target: nothing is read for it.
 */
export const sandboxes: Collector = {
  name: 'sandboxes',
  phase: 'sweep',
  deadlineMs: 500,
  async *collect({ inventory }) {
    const lines = inventory.sandboxes.flatMap(({ id, pod }) =>
      pod === null ? [] : [`${escapeColumn(id)} ${escapeColumn(`${pod.namespace}/${pod.name}`)} ${pod.uid ?? '-'}\n`],
    );
    const source = 'config.json of every bundle directory, as the search for the target found it';
    const body = Buffer.from(lines.join(''));
    yield { path: 'node/sandboxes.txt', source, outcome: lines.length === 0 ? 'empty' : 'ok', body };
  },
};
