import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bundleDirectories } from '../../src/collectors/bundle-directories.ts';
import { broughtBy, CONTAINER_ID, captureOn, POD, SANDBOX_ID, SHIM, TASKS, textOf } from './capture-on.ts';
import { type Content, PaperHost } from './paper-host.ts';

const fixture = (path: string) => readFileSync(new URL(`../fixtures/state/${path}`, import.meta.url), 'utf8');
const BUNDLE = `${TASKS}/${CONTAINER_ID}`;
const IN_BUNDLE = `containers/${CONTAINER_ID}/bundle`;

/** A bundle directory as containerd 1.6.20 left it, with an exec in it. */
function bundleOf(directory: string): Record<string, Content> {
  const names = ['address', 'config.json', 'init.pid', 'log.json', 'options.json', 'runtime', 'shim-binary-path'];
  return {
    ...Object.fromEntries(names.map(name => [`${directory}/${name}`, fixture(`1.6.20/bundle-container/${name}`)])),
    [`${directory}/log`]: { fifo: true },
    [`${directory}/work`]: { link: '/var/lib/containerd/io.containerd.runtime.v2.task/k8s.io/x' },
    [`${directory}/e0f1.pid`]: '2777',
    [`${directory}/rootfs/etc/passwd`]: 'x',
  };
}

describe('bundle directories', () => {
  it('come with every file that containerd, the shim and runc wrote into them', async () => {
    const brought = await broughtBy(
      bundleDirectories,
      captureOn(new PaperHost(bundleOf(BUNDLE)).host, { sandbox: POD }),
    );
    expect(textOf(brought, `${IN_BUNDLE}/address`)).toBe(fixture('1.6.20/bundle-container/address'));
    expect(textOf(brought, `${IN_BUNDLE}/init.pid`)).toBe(fixture('1.6.20/bundle-container/init.pid'));
    expect(textOf(brought, `${IN_BUNDLE}/e0f1.pid`)).toBe('2777');
    expect(brought.get(`${IN_BUNDLE}/log.json`)).toMatchObject({ outcome: 'empty' });
  });

  it('come with a listing that shows the fifo, and where the work link leads', async () => {
    const brought = await broughtBy(
      bundleDirectories,
      captureOn(new PaperHost(bundleOf(BUNDLE)).host, { sandbox: POD }),
    );
    const text = textOf(brought, `${IN_BUNDLE}.txt`);
    expect(text).toMatch(/^fifo 0700 .* log$/m);
    expect(text).toMatch(/^link .* work -> \/var\/lib\/containerd\/io\.containerd\.runtime\.v2\.task\/k8s\.io\/x$/m);
  });

  it("never touch the container's root filesystem, and never open the fifo", async () => {
    const paper = new PaperHost(bundleOf(BUNDLE));
    const brought = await broughtBy(bundleDirectories, captureOn(paper.host, { sandbox: POD }));
    expect(paper.asked.filter(({ path }) => path.includes('/rootfs'))).toEqual([]);
    expect(paper.asked.filter(({ path }) => path === `${BUNDLE}/log`)).toMatchObject([{ what: 'stat' }]);
    expect(textOf(brought, `${IN_BUNDLE}.txt`)).toContain('(not looked at: a mount) rootfs\n');
  });

  it('with a thousand files of execs come with what every bundle has, and say that there are more', async () => {
    const paper = new PaperHost(bundleOf(BUNDLE));
    for (let exec = 0; exec < 1000; exec++) paper.put(`${BUNDLE}/0exec-${exec}.pid`, '2777');
    const brought = await broughtBy(bundleDirectories, captureOn(paper.host, { sandbox: POD }));
    expect(textOf(brought, `${IN_BUNDLE}/config.json`)).toContain('annotations');
    expect(brought.get(`${IN_BUNDLE}.txt`)).toMatchObject({
      ...{ outcome: 'truncated', detail: 'the first 400 of 1010 names' },
    });
    expect([...brought.keys()].filter(path => path.startsWith(IN_BUNDLE)).length).toBeLessThan(410);
  });

  it('lose the values of the environment', async () => {
    const config = fixture('1.6.20/bundle-container/config.json').replace('HOSTNAME=vm', 'TOKEN=s3cret');
    const paper = new PaperHost(bundleOf(BUNDLE)).put(`${BUNDLE}/config.json`, config);
    const brought = await broughtBy(bundleDirectories, captureOn(paper.host, { sandbox: POD }));
    expect([...brought.values()].map(({ body }) => body.toString()).join('')).not.toContain('s3cret');
    expect(JSON.parse(textOf(brought, `${IN_BUNDLE}/config.json`)).process.env).toEqual(['PATH', 'TOKEN']);
  });

  it('of one container are lacking when they do not answer; the others come', async () => {
    const paper = new PaperHost({ ...bundleOf(`${TASKS}/${SANDBOX_ID}`), ...bundleOf(BUNDLE) });
    paper.put(BUNDLE, { outcome: 'timeout', detail: 'no answer for 1000 ms' });
    const brought = await broughtBy(bundleDirectories, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get(`${IN_BUNDLE}.txt`)).toMatchObject({ outcome: 'timeout', detail: 'no answer for 1000 ms' });
    expect(brought.get(`containers/${SANDBOX_ID}/bundle/init.pid`)).toMatchObject({ outcome: 'ok' });
  });

  it('that containerd deleted under the living shim are absent; those that vanish meanwhile are gone', async () => {
    const deleted = { ...POD, shims: [{ ...SHIM, bundle: BUNDLE, bundleDeleted: true }] };
    const brought = await broughtBy(bundleDirectories, captureOn(new PaperHost().host, { sandbox: deleted }));
    expect(brought.get(`${IN_BUNDLE}.txt`)).toMatchObject({ outcome: 'absent' });
    expect(brought.get(`containers/${SANDBOX_ID}/bundle.txt`)).toMatchObject({ outcome: 'gone' });
  });
});
