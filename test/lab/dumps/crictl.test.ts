import { expect, it } from 'vitest';
import { collectors } from '../../../src/collectors/index.ts';
import { parseViews } from '../../../src/formats/views/document.ts';
import { judgeViews } from '../../../src/formats/views/judge.ts';
import { viewsTable } from '../../../src/report/views-table.ts';
import { collect } from '../../collectors/collect.ts';
import { during } from '../during.ts';
import { labUnavailable, missingPrograms } from '../requirements.ts';
import { umountDelayed } from '../stalls/umount-delayed.ts';

const ASKING = collectors.filter(({ name }) => ['views-before', 'node-samples', 'crictl', 'views'].includes(name));
const NO_CRICTL = 'crictl is not in PATH, and Debian has no package of it (kubernetes-sigs/cri-tools)';

it.skipIf(labUnavailable())("crictl's own answers stand in the table where it is installed", ({ skip }) => {
  if (missingPrograms(['crictl']).length > 0) return skip(NO_CRICTL);
  return during(umountDelayed({ siblings: ['side'] }), async ({ pod, container, siblings: [sibling] }) => {
    const { evidence, notGot } = await collect(pod.id, ASKING, { samples: 2, intervalMs: 1200 });
    expect(notGot).toEqual([]);
    for (const what of ['version', 'pods', 'ps', 'inspectp', `inspect-${container.id.slice(0, 12)}`])
      expect(evidence.get(`runtime/crictl-${what}.txt`)).toMatchObject({ outcome: 'ok' });
    // Its socket is asked only where there is no crictl.
    expect(evidence.has('runtime/cri.json')).toBe(false);
    const document = parseViews(evidence.get('runtime/views.json')?.body.toString() ?? '');
    const said = (id = '') =>
      document?.containers.find(each => each.id === id)?.views.find(view => view.source === 'crictl');
    expect(said(pod.id)).toMatchObject({ says: 'running', word: 'SANDBOX_READY' });
    for (const id of [container.id, sibling?.id])
      expect(said(id)).toMatchObject({ says: 'running', word: 'CONTAINER_RUNNING' });
    const wrong = (id: string) =>
      document?.containers
        .filter(each => each.id === id)
        .flatMap(each => judgeViews(each).contradictions.map(({ view }) => view.source));
    expect(wrong(container.id)).toContain('crictl');
    expect(document && viewsTable(document)).toMatch(/^app .* RUNNING!$/m);
  });
});
