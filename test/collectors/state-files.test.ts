import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { criStatus } from '../../src/collectors/cri-status.ts';
import { criStore } from '../../src/collectors/cri-store.ts';
import { dockerState } from '../../src/collectors/docker-state.ts';
import { runcState } from '../../src/collectors/runc-state.ts';
import { parseListing } from '../../src/diagnosis/facts/listing.ts';
import { broughtBy, CONTAINER_ID, captureOn, DOCKERD, POD, ROOT, SANDBOX_ID, SHIM, textOf } from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

const fixture = (path: string) => readFileSync(new URL(`../fixtures/state/${path}`, import.meta.url), 'utf8');
const OF = `containers/${CONTAINER_ID}`;

describe("runc's record", () => {
  const directory = `/run/containerd/runc/k8s.io/${CONTAINER_ID}`;

  it('is state.json, and whether exec.fifo waits for a start', async () => {
    const paper = new PaperHost({
      [`${directory}/state.json`]: fixture('1.6.20/runc/container-state.json'),
      [`${directory}/exec.fifo`]: { fifo: true },
    });
    const brought = await broughtBy(runcState, captureOn(paper.host, { sandbox: POD }));
    expect(JSON.parse(textOf(brought, `${OF}/runc/state.json`))).toEqual(
      JSON.parse(fixture('1.6.20/runc/container-state.json')),
    );
    expect(textOf(brought, `${OF}/runc.txt`)).toMatch(/^file .* state\.json\nfifo .* exec\.fifo$/m);
    // Opening it would let `runc init` go on.
    expect(paper.asked.filter(({ path }) => path.endsWith('exec.fifo')).every(({ what }) => what === 'stat')).toBe(
      true,
    );
  });

  it('is absent after runc delete, which is an answer and no gap', async () => {
    const brought = await broughtBy(runcState, captureOn(new PaperHost().host, { sandbox: POD }));
    expect(brought.get(`${OF}/runc.txt`)).toMatchObject({ outcome: 'absent' });
    expect(textOf(brought, `${OF}/runc.txt`)).toContain('(not there) state.json\n(not there) exec.fifo\n');
    expect(brought.has(`${OF}/runc/state.json`)).toBe(false);
  });

  it('is not called missing where the runtime is crun, which keeps another one', async () => {
    const paper = new PaperHost({ [`${directory}/status`]: '{"pid":2503}' });
    const brought = await broughtBy(runcState, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get(`${OF}/runc.txt`)).toMatchObject({ outcome: 'ok' });
    const listed = parseListing(`${OF}/runc.txt`, textOf(brought, `${OF}/runc.txt`));
    expect(listed.map(({ name, remark }) => [name, remark])).toEqual([
      ['state.json', 'its runtime is crun, which keeps status'],
      ['exec.fifo', 'not there'],
      ['status', null],
    ]);
  });

  it('is not called missing where the shim is another than that of runc', async () => {
    const shims = [{ ...SHIM, exe: '/opt/kata/bin/containerd-shim-kata-v2' }];
    const brought = await broughtBy(runcState, captureOn(new PaperHost().host, { sandbox: { ...POD, shims } }));
    expect(brought.get(`${OF}/runc.txt`)).toMatchObject({
      outcome: 'absent',
      detail: 'its runtime is not runc: it has the shim containerd-shim-kata-v2',
    });
    expect(textOf(brought, `${OF}/runc.txt`)).toBe('');
  });

  it('is lacking when it does not answer', async () => {
    const paper = new PaperHost({ [`${directory}/state.json`]: { outcome: 'timeout' } });
    const brought = await broughtBy(runcState, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get(`${OF}/runc/state.json`)).toMatchObject({ outcome: 'timeout' });
  });
});

describe("CRI's status", () => {
  const directory = `${ROOT}/io.containerd.grpc.v1.cri/containers/${CONTAINER_ID}`;
  const status = fixture('1.6.20/cri/container-status.json');

  it('is the file as it stands, and when it was written, to the nanosecond', async () => {
    const paper = new PaperHost({ [`${directory}/status`]: status });
    const brought = await broughtBy(criStatus, captureOn(paper.host, { sandbox: POD }));
    expect(textOf(brought, `${OF}/status.json`)).toBe(status);
    expect(textOf(brought, `${OF}/status.stat`)).toMatch(
      /^file 0600 .* mtime=2026-11-29T11:42:33\.569336228Z ctime=\S+ .* status$/m,
    );
  });

  it('shows the temporary file of a write that waits for the disk', async () => {
    const paper = new PaperHost({ [`${directory}/status`]: status, [`${directory}/.tmp-status123`]: '{"Ver' });
    const brought = await broughtBy(criStatus, captureOn(paper.host, { sandbox: POD }));
    expect(textOf(brought, `${OF}/status.stat`)).toMatch(/ size=5 .* \.tmp-status123$/m);
  });

  it('is not looked for of a sandbox, which has none on disk', async () => {
    const paper = new PaperHost();
    await broughtBy(criStatus, captureOn(paper.host, { sandbox: POD }));
    expect(paper.asked.filter(({ path }) => path.includes(SANDBOX_ID))).toEqual([]);
  });

  it.each([
    ['was removed', {}],
    ['has only a temporary file', { [`${directory}/.tmp-status1`]: '{' }],
  ])('is absent when it %s', async (_, files) => {
    const brought = await broughtBy(criStatus, captureOn(new PaperHost(files).host, { sandbox: POD }));
    expect(brought.get(`${OF}/status.json`)).toMatchObject({ outcome: 'absent' });
  });

  it('is lacking when the disk does not answer', async () => {
    const paper = new PaperHost({ [`${directory}/status`]: { outcome: 'timeout', detail: 'no answer for 1000 ms' } });
    const brought = await broughtBy(criStatus, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get(`${OF}/status.json`)).toMatchObject({ outcome: 'timeout', detail: 'no answer for 1000 ms' });
  });

  it.each([
    ['hangs', 'timeout', 'truncated'],
    ['is left alone on a busy disk', 'absent', 'ok'],
  ] as const)('is there, with its times, though the look at what lies beside it %s', async (_, outcome, told) => {
    const paper = new PaperHost({
      [`${directory}/status`]: status,
      [directory]: { outcome, detail: 'why not' },
    });
    const brought = await broughtBy(criStatus, captureOn(paper.host, { sandbox: POD }));
    expect(textOf(brought, `${OF}/status.json`)).toBe(status);
    expect(brought.get(`${OF}/status.stat`)?.outcome).toBe(told);
    expect(textOf(brought, `${OF}/status.stat`)).toMatch(/^file 0600 .* status\n\(why not\) \(what else there is\)$/m);
  });

  it.each([
    ['hangs as well', 'timeout'],
    ['is denied', 'denied'],
  ] as const)('that hangs has no list of its times when the look at what lies beside it %s', async (_, outcome) => {
    const paper = new PaperHost({
      [`${directory}/status`]: { outcome: 'timeout', detail: 'no answer for 1000 ms' },
      [directory]: { outcome, detail: 'why not' },
    });
    const brought = await broughtBy(criStatus, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get(`${OF}/status.stat`)).toMatchObject({ outcome: 'timeout', detail: 'no answer for 1000 ms' });
    expect(textOf(brought, `${OF}/status.stat`)).toBe('');
  });

  it('is matched to the right container when one directory is empty', async () => {
    const second = { ...(POD.containers[1] as (typeof POD.containers)[number]), id: 'e'.repeat(64) };
    const other = `${ROOT}/io.containerd.grpc.v1.cri/containers/${second.id}`;
    const paper = new PaperHost({ [`${other}/status`]: status });
    const sandbox = { ...POD, containers: [...POD.containers, second] };
    const brought = await broughtBy(criStatus, captureOn(paper.host, { sandbox }));
    expect(brought.get(`${OF}/status.json`)).toMatchObject({ outcome: 'absent' });
    expect(textOf(brought, `containers/${second.id}/status.json`)).toBe(status);
  });
});

describe('the rest of the CRI store', () => {
  const store = `${ROOT}/io.containerd.grpc.v1.cri/containers`;
  const other = 'e'.repeat(64);
  const files = { [`${store}/${CONTAINER_ID}/status`]: '{"Pid":1}', [`${store}/${other}/status`]: '{"Pid":2}' };

  it('is the statuses of containers without a bundle, and when they were written', async () => {
    const brought = await broughtBy(criStore, captureOn(new PaperHost(files).host, { sandbox: POD }));
    expect(textOf(brought, 'node/cri-store.txt')).toBe(`==> ${store}/${other}/status <==\n{"Pid":2}\n`);
    expect(textOf(brought, 'node/cri-store.stat')).toMatch(new RegExp(`^file .* mtime=\\S+ .* ${other}/status$`, 'm'));
  });

  it('is all of them for a node', async () => {
    const text = textOf(await broughtBy(criStore, captureOn(new PaperHost(files).host)), 'node/cri-store.txt');
    expect(text).toContain('{"Pid":1}');
    expect(text).toContain('{"Pid":2}');
  });

  it('is no gap where there is none, or where every container is known', async () => {
    const none = await broughtBy(criStore, captureOn(new PaperHost().host, { sandbox: POD }));
    expect([...none.values()].map(({ outcome }) => outcome)).toEqual(['absent']);
    const known = new PaperHost({ [`${store}/${CONTAINER_ID}/status`]: '{"Pid":1}' });
    const brought = await broughtBy(criStore, captureOn(known.host, { sandbox: POD }));
    expect(brought.get('node/cri-store.txt')).toMatchObject({ outcome: 'absent' });
  });

  it('is a gap where the disk does not answer', async () => {
    const paper = new PaperHost({ [store]: { outcome: 'timeout', detail: 'no answer' } });
    const brought = await broughtBy(criStore, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get('node/cri-store.txt')).toMatchObject({ outcome: 'timeout' });
  });

  it('is left alone where looking would write to a busy disk, and says so', async () => {
    const paper = new PaperHost({ [store]: { outcome: 'absent', detail: 'not listed: busy' } });
    const brought = await broughtBy(criStore, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get('node/cri-store.txt')).toMatchObject({ outcome: 'absent', detail: 'not listed: busy' });
  });
});

describe("docker's record", () => {
  const sandbox = { ...POD, runtime: 'docker' as const };
  const path = (root: string) => `${root}/containers/${CONTAINER_ID}/config.v2.json`;
  const record = JSON.stringify({ State: { Running: true, Pid: 2503 }, Config: { Env: ['TOKEN=s3cret'] } });

  it('is config.v2.json without the values of the environment, and when it was written', async () => {
    const paper = new PaperHost({ [path('/data')]: record });
    const daemons = [{ ...DOCKERD, root: '/data' }];
    const brought = await broughtBy(dockerState, captureOn(paper.host, { sandbox, daemons }));
    expect(JSON.parse(textOf(brought, `${OF}/config.v2.json`))).toEqual({
      State: { Running: true, Pid: 2503 },
      Config: { Env: ['TOKEN'] },
    });
    expect(textOf(brought, `${OF}/config.v2.stat`)).toMatch(/^file .* mtime=\S+ .* config\.v2\.json$/m);
  });

  it('is looked for in the default place when no dockerd is alive', async () => {
    const paper = new PaperHost({ [path('/var/lib/docker')]: record });
    const brought = await broughtBy(dockerState, captureOn(paper.host, { sandbox, daemons: [] }));
    expect(brought.get(`${OF}/config.v2.json`)).toMatchObject({ outcome: 'ok' });
  });

  it('is not looked for in a pod of containerd', async () => {
    const paper = new PaperHost();
    expect([...(await broughtBy(dockerState, captureOn(paper.host, { sandbox: POD }))).keys()]).toEqual([]);
    expect(paper.asked).toEqual([]);
  });
});
