import { expect, it } from 'vitest';
import { parseViews } from '../../../src/formats/views/document.ts';
import { during } from '../during.ts';
import { closingWords, gapsOf, grab } from '../grab/grab.ts';
import { labUnavailable } from '../requirements.ts';
import { umountDelayed } from '../stalls/umount-delayed.ts';

it.skipIf(labUnavailable())('a grab of an umount that hangs shows in one table what each source says', () =>
  during(umountDelayed({ siblings: ['side'] }), async ({ folder, pod, container, siblings: [sibling] }) => {
    const { run, bundle } = await grab(folder, [pod.id, '--samples', '2'], { exit: 0 });
    expect(gapsOf(bundle)).toEqual([]);
    const lines = closingWords(run.stderr);
    expect(lines).toContainEqual(
      expect.stringMatching(/^What each source says \(! cannot be true\); shim \d+ answered Connect in \d+ ms:$/),
    );
    const rowOf = (name: string) => lines.find(line => line.startsWith(`${name} `));
    expect(rowOf('CONTAINER')).toMatch(/^CONTAINER +\/PROC +RUNC +SHIM +CRI FILE +CRI$/);
    expect(rowOf('app')).toMatch(/^app +gone \d+ +no record +no answer 2\.\d s +running! for .+ +RUNNING!$/);
    expect(rowOf('side')).toMatch(/^side +alive \d+ +init \d+ +RUNNING +running for .+ +RUNNING$/);

    // The same in the bundle.
    const views = parseViews(bundle.text('runtime/views.json'));
    const said = (id = '') =>
      Object.fromEntries(
        (views?.containers.find(each => each.id === id)?.views ?? []).map(({ source, word }) => [source, word]),
      );
    expect(views?.shims).toMatchObject([{ pid: pod.shimPid, outcome: 'ok', answeredBy: pod.shimPid }]);
    expect(said(container.id)).toEqual({
      ...{ '/proc': 'gone', runc: 'no record', shim: 'no answer' },
      ...{ 'CRI status file': 'running', CRI: 'CONTAINER_RUNNING' },
    });
    expect(said(sibling?.id)).toMatchObject({ '/proc': 'alive', shim: 'RUNNING', CRI: 'CONTAINER_RUNNING' });
  }),
);
