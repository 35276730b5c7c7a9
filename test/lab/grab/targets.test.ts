import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Containerd, startContainerd } from '../containerd.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { alive } from '../proc.ts';
import { signal } from '../processes.ts';
import { labUnavailable } from '../requirements.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';
import { expectUnharmed, gapsOf, grab } from './grab.ts';
import { stallcap } from './stallcap.ts';

/** Other labs of this machine may have a pod web-0. */
const POD = `cart-${process.pid}`;
const QUICK = ['--samples', '1'];
const DUMP = /^=== BEGIN goroutine stack dump ===\n[\s\S]*\n=== END goroutine stack dump ===$/;

describe.skipIf(labUnavailable())('on a healthy node', () => {
  let containerd: Containerd;
  let pod: Pod;
  let container: PodContainer;
  beforeAll(async () => {
    containerd = await startContainerd();
    pod = await containerd.runPod({ name: POD, namespace: 'shop' });
    container = await pod.addContainer({ name: 'app' });
    for (const namespace of ['shop', 'test']) await containerd.runPod({ name: `${POD}-twin`, namespace });
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  it.each([
    ['a prefix of its sandbox id', () => pod.id.slice(0, 11), 'sandbox id prefix'],
    ['its name', () => POD, 'pod name'],
    ['its namespace and name', () => `shop/${POD}`, 'namespace and pod name'],
    ['its uid', () => pod.uid, 'pod uid'],
    ['the id of a container', () => container.id, 'container id'],
    ['a prefix of the id of a container', () => container.id.slice(0, 12), 'container id prefix'],
    ['a process of a container', () => `pid:${container.initPid}`, /^descendant of shim \d+$/],
    ['the process of the shim', () => `pid:${pod.shimPid}`, 'pid of the shim'],
  ])('a pod named by %s is captured whole, and unharmed', async (_, asked, how) => {
    const { bundle } = await grab(containerd.folder, [asked(), ...QUICK], { exit: 0 });
    expect(gapsOf(bundle)).toEqual([]);
    expect(bundle.manifest.target).toMatchObject({
      kind: 'sandbox',
      asked: asked(),
      how: expect.stringMatching(how),
      sandbox: { id: pod.id, pod: { name: POD, namespace: 'shop', uid: pod.uid }, shims: [{ pid: pod.shimPid }] },
    });
    expect(bundle.text('shim/threads-1.txt')).toContain(`# process ${pod.shimPid} containerd-shim\n`);
    expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
    expect(bundle.threads(`containers/${container.id}/threads-1.txt`)).toMatchObject([{ tid: container.initPid }]);
    expect(JSON.parse(bundle.text(`containers/${container.id}/status.json`))).toMatchObject({
      Pid: container.initPid,
      FinishedAt: 0,
    });
    await expectUnharmed(containerd, [pod, container]);
  });

  it('a name that two pods have is refused with both of them in a table on stderr', async () => {
    const { exit, stdout, stderr } = await stallcap(containerd.folder, ['grab', `${POD}-twin`]);
    expect({ exit, stdout: stdout.toString() }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toMatch(/^Error: .*means 2 sandboxes/m);
    expect(stderr).toMatch(/^POD +SANDBOX +SHIM +AGE$/m);
    for (const namespace of ['shop', 'test']) expect(stderr).toContain(`${namespace}/${POD}-twin`);
  });

  it('a name that nobody has is refused with those that are near it', async () => {
    const { exit, stdout, stderr } = await stallcap(containerd.folder, ['grab', `shop/${POD}x`]);
    expect({ exit, stdout: stdout.toString() }).toEqual({ exit: 4, stdout: '' });
    expect(stderr).toContain(`shop/${POD} `);
    expect(stderr).toContain('stallcap list');
    const far = await stallcap(containerd.folder, ['grab', 'zzzz/no-such-pod-anywhere']);
    expect(far).toMatchObject({ exit: 4, left: [] });
  });

  it('the node alone is captured without a signal to anybody', async () => {
    const { bundle, run: ran } = await grab(containerd.folder, ['--node', ...QUICK], { exit: 0 });
    expect(bundle.manifest).toMatchObject({ target: { kind: 'node' }, signals: [] });
    expect(bundle.names.filter(name => /^(shim|containers)\//.test(name))).toEqual([]);
    const processes = bundle.text('node/processes.txt');
    for (const pid of [pod.shimPid, container.initPid, containerd.pid])
      expect(processes).toMatch(new RegExp(`^ *${pid} +${pid} `, 'm'));
    expect(bundle.text('runtime/ctr-namespaces.txt')).toContain('k8s.io');
    expect(ran.stderr).toContain('Captured: the node alone');
  });

  it('a shim whose bundle was deleted under it is captured, its dump from the fifo that has no name any more', async () => {
    const lost = await containerd.runPod({ name: `${POD}-given-up`, namespace: 'shop' });
    await containerd.kill();
    signal(lost.shimPid, 'SIGSTOP');
    try {
      await containerd.start();
      await until('containerd to delete the bundle', 30_000, () => !existsSync(lost.bundle));
    } finally {
      signal(lost.shimPid, 'SIGCONT');
    }
    const { bundle } = await grab(containerd.folder, [lost.id.slice(0, 12), ...QUICK], { exit: 0 });
    expect(bundle.manifest.target).toMatchObject({
      kind: 'sandbox',
      sandbox: { id: lost.id, shims: [{ pid: lost.shimPid, bundleDeleted: true }] },
    });
    expect(bundle.text('shim/threads-1.txt')).toContain(`# process ${lost.shimPid} containerd-shim\n`);
    expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
    expect(alive(lost.shimPid)).toBe(true);
  });

  it('a bundle directory that cannot be read may be one more container of the pod, so something is missing', async () => {
    const unreadable = join(dirname(pod.bundle), 'f'.repeat(64));
    mkdirSync(unreadable);
    await run('mkfifo', [join(unreadable, 'config.json')]);
    try {
      const { bundle } = await grab(containerd.folder, [pod.id, ...QUICK], { exit: 3 });
      expect(gapsOf(bundle)).toEqual([`${unreadable}/config.json: error is a fifo: not read`]);
    } finally {
      rmSync(unreadable, { recursive: true });
    }
  });

  it('of a pod without a shim, what its kubelet left is captured with the node, and said to be incomplete', async () => {
    const uid = '5f2d1c0b-7a3e-4e58-9c61-0d9b8a7f6e54';
    const logs = `/var/log/pods/shop_${POD}-left_${uid}`;
    // Parents that are not there go with the lab's folder too.
    const parents = ['/var/log/pods', logs].filter(path => !existsSync(path));
    for (const path of parents) containerd.folder.note({ kind: 'path', path });
    mkdirSync(join(logs, 'app'), { recursive: true });
    writeFileSync(join(logs, 'app', '0.log'), '2026-01-02T03:04:05.6Z stdout F the last words\n');
    const { bundle, run: ran } = await grab(containerd.folder, [`shop/${POD}-left`, ...QUICK], { exit: 3 });
    expect(gapsOf(bundle)).toEqual([]);
    expect(bundle.manifest).toMatchObject({
      signals: [],
      target: { kind: 'remnant', remnant: { pod: { name: `${POD}-left`, namespace: 'shop', uid }, paths: [logs] } },
    });
    expect(bundle.text('logs/pods/app/0.log')).toContain('the last words');
    expect(bundle.text('node/processes.txt')).toMatch(/^ *PID +TID +PPID STAT/);
    expect(ran.stderr).toMatch(/which has no shim/);
    expect(readFileSync(join(logs, 'app', '0.log'), 'utf8')).toContain('the last words');
  });
});
