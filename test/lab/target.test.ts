import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StallcapError } from '../../src/errors.ts';
import { createHost } from '../../src/host/linux.ts';
import { findBlocked } from '../../src/sandbox/find-blocked.ts';
import { takeInventory } from '../../src/sandbox/inventory.ts';
import { resolveTarget } from '../../src/sandbox/resolve-target.ts';
import type { Inventory, Target } from '../../src/sandbox/types.ts';
import { type Containerd, startContainerd } from './containerd.ts';
import { startDocker } from './docker.ts';
import type { LabFolder } from './folder.ts';
import { newerContainerd } from './newer-containerd.ts';
import type { Pod, PodContainer } from './pod.ts';
import { alive, cwd } from './proc.ts';
import { signal } from './processes.ts';
import { labUnavailable } from './requirements.ts';
import { hungHelper } from './shim-helper.ts';
import { until } from './wait.ts';

/** Everything of this node that belongs to the lab's folder: others may use the machine too. */
async function inventoryOf(folder: LabFolder): Promise<Inventory> {
  const inventory = await takeInventory(host, null, 10_000);
  const sandboxes = inventory.sandboxes.filter(({ containers }) => containers[0]?.bundle.includes(folder.path));
  return { ...inventory, sandboxes, gaps: inventory.gaps.filter(({ path }) => path.includes(folder.path)) };
}

const host = createHost();
afterAll(() => host.close());

async function resolve(folder: LabFolder, asked: string | null): Promise<Target> {
  const options = {
    firstLook: null,
    places: { podLogs: [join(folder.path, 'pods')], containerLogs: [], kubeletPods: [], roots: [] },
  };
  return resolveTarget(asked, await inventoryOf(folder), host, options);
}

const found = (target: Target) =>
  target.kind === 'sandbox' ? [target.sandbox.id, target.sandbox.shims.map(({ pid }) => pid), target.how] : target;

describe.skipIf(labUnavailable())('a target on a real containerd', () => {
  let containerd: Containerd;
  let pod: Pod;
  let app: PodContainer;

  beforeAll(async () => {
    containerd = await startContainerd();
    pod = await containerd.runPod({ name: 'target-0', namespace: 'shop' });
    app = await pod.addContainer({ name: 'app', command: ['sh', '-c', 'sleep 2147483647 & wait'] });
    await containerd.runPod({ name: 'twin', namespace: 'shop' });
    await containerd.runPod({ name: 'twin', namespace: 'test' });
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  it('is found by everything that people have at hand', async () => {
    const is = (how: string) => [pod.id, [pod.shimPid], how];
    const at = async (asked: string) => found(await resolve(containerd.folder, asked));
    expect(await at(pod.id)).toEqual(is('sandbox id'));
    expect(await at(pod.id.slice(0, 12))).toEqual(is('sandbox id prefix'));
    expect(await at('target-0')).toEqual(is('pod name'));
    expect(await at('shop/target-0')).toEqual(is('namespace and pod name'));
    expect(await at(pod.uid)).toEqual(is('pod uid'));
    expect(await at(app.id)).toEqual(is('container id'));
    expect(await at(app.id.slice(0, 12))).toEqual(is('container id prefix'));
    expect(await at(`containerd://${app.id}`)).toEqual(is('container id'));
    expect(await at(`pid:${pod.shimPid}`)).toEqual(is('pid of the shim'));
    expect(await at(`pid:${app.initPid}`)).toEqual(is(`descendant of shim ${pod.shimPid}`));
    const sleep = await until('the sleep below the shell', 5000, () => childOf(app.initPid));
    expect(await at(`pid:${sleep}`)).toEqual(is(`descendant of shim ${pod.shimPid}`));
  });

  it('is known with all that belongs to it', async () => {
    const { sandboxes, daemons, gaps } = await inventoryOf(containerd.folder);
    expect(gaps).toEqual([]);
    expect(daemons.find(({ pid }) => pid === containerd.pid)).toMatchObject({
      kind: 'containerd',
      address: containerd.socket,
      root: containerd.root,
      state: containerd.state,
      procState: 'S',
    });
    expect(sandboxes.find(({ id }) => id === pod.id)).toMatchObject({
      namespace: 'k8s.io',
      runtime: 'containerd',
      pod: { name: 'target-0', namespace: 'shop', uid: pod.uid },
      shims: [
        {
          pid: pod.shimPid,
          bundle: pod.bundle,
          bundleDeleted: false,
          state: containerd.state,
          root: containerd.root,
          address: containerd.socket,
          exe: readlinkSync(`/proc/${pod.shimPid}/exe`),
        },
      ],
      containers: [
        { id: pod.id, kind: 'sandbox', initPid: pod.initPid, bundle: pod.bundle, shimPid: pod.shimPid },
        { id: app.id, kind: 'container', name: 'app', initPid: app.initPid, bundle: app.bundle, how: 'annotation' },
      ],
    });
    for (const { containers } of sandboxes)
      for (const { runcState } of containers) expect(existsSync(`${runcState}/state.json`)).toBe(true);
  });

  it('that two namespaces have is refused with both, and one that is nowhere with what is near', async () => {
    const refusal = async (asked: string) => {
      const error = await resolve(containerd.folder, asked).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StallcapError);
      const { code, exit, table } = error as StallcapError;
      return { code, exit, table };
    };
    expect(await refusal('twin')).toMatchObject({
      code: 'ambiguous-target',
      exit: 2,
      table: expect.stringMatching(/shop\/twin.*\n.*test\/twin/),
    });
    expect(await refusal('target-1')).toMatchObject({
      code: 'no-such-target',
      exit: 4,
      table: expect.stringMatching(/shop\/target-0/),
    });
    expect(await refusal(`pid:${process.pid}`)).toMatchObject({ code: 'no-such-target', exit: 4 });
    expect(await refusal(`pid:${containerd.pid}`)).toMatchObject({ code: 'no-such-target', exit: 4 });
  });

  it('has no blocked thread while it is healthy', async () => {
    const { sandboxes } = await inventoryOf(containerd.folder);
    const blocked = await findBlocked(host, sandboxes, { firstLook: null, deadlineMs: 5000 });
    expect([...blocked.values()].flat()).toEqual([]);
    expect(blocked.size).toBe(3);
  });

  it.each(['start', 'delete'] as const)(
    'is never the %s helper of its shim, which runs in the same directory',
    async action => {
      await using helper = await hungHelper(containerd, pod, action);
      expect(cwd(helper.pid)).toBe(pod.bundle);
      expect(found(await resolve(containerd.folder, 'target-0'))).toEqual([pod.id, [pod.shimPid], 'pod name']);
      const all = (await takeInventory(host, null, 10_000)).sandboxes.flatMap(({ shims }) => shims);
      expect(all.filter(({ pid }) => pid === helper.pid)).toEqual([]);
    },
  );

  it('without a pod is found by its id, below a v1 shim and a v2 shim', async () => {
    for (const shim of ['v1', 'v2'] as const) {
      const container = await containerd.runContainer({ id: `alone-${shim}`, shim });
      const target = await resolve(containerd.folder, `alone-${shim}`);
      expect(target).toMatchObject({
        kind: 'sandbox',
        how: 'container id',
        sandbox: {
          id: `alone-${shim}`,
          namespace: 'default',
          pod: null,
          shims: [{ pid: container.shimPid, generation: shim, bundle: container.bundle, root: containerd.root }],
          containers: [{ initPid: container.initPid, kind: 'container' }],
        },
      });
    }
  });

  it('is found when its shim is gone, as what is left of it', async () => {
    const lost = await containerd.runPod({ name: 'lost', namespace: 'shop' });
    const { id } = await lost.addContainer({ name: 'app' });
    await containerd.kill();
    signal(lost.shimPid, 'SIGKILL');
    await until('the shim to be dead', 5000, () => !alive(lost.shimPid));
    expect(await resolve(containerd.folder, 'shop/lost')).toMatchObject({
      kind: 'remnant',
      remnant: {
        pod: { name: 'lost', namespace: 'shop', uid: lost.uid },
        ids: [lost.id, id],
        paths: expect.arrayContaining([lost.bundle]),
      },
    });
    await containerd.start();
    await until('containerd to have cleaned up', 20_000, () => !existsSync(lost.bundle));
    expect(await resolve(containerd.folder, 'shop/lost')).toMatchObject({
      kind: 'remnant',
      how: 'what is left on disk',
      remnant: {
        pod: { name: 'lost', uid: lost.uid },
        paths: [join(containerd.folder.path, 'pods', `shop_lost_${lost.uid}`)],
      },
    });
  });

  it('is found when a restarted containerd has given the living shim up and deleted its bundle', async () => {
    const given = await containerd.runPod({ name: 'given-up', namespace: 'shop' });
    const held = await given.addContainer({ name: 'app' });
    await containerd.kill();
    signal(given.shimPid, 'SIGSTOP');
    const isGivenUp = async (asked: string) =>
      expect(await resolve(containerd.folder, asked)).toMatchObject({
        kind: 'sandbox',
        sandbox: {
          id: given.id,
          shims: [{ pid: given.shimPid, bundleDeleted: true, root: containerd.root, state: containerd.state }],
        },
      });
    try {
      await containerd.start();
      await until('containerd to delete the bundle', 30_000, () => !existsSync(given.bundle));
      expect(readlinkSync(`/proc/${given.shimPid}/cwd`)).toMatch(/ \(deleted\)$/);
      await isGivenUp(given.id.slice(0, 12));
      // By the fifos of its output, which the shim still holds.
      await isGivenUp(held.id);
    } finally {
      signal(given.shimPid, 'SIGCONT');
    }
    await isGivenUp(given.id);
  });
});

function childOf(pid: number): number | null {
  const below = `/proc/${pid}/task/${pid}/children`;
  return Number(host.read(below).body.toString().trim().split(' ')[0]) || null;
}

describe.skipIf(labUnavailable())('a target on a real docker', () => {
  it('is found by name and id, and a pod has all shims of its containers', async () => {
    await using docker = await startDocker();
    const { folder } = docker;
    const registry = await docker.runContainer('stallcap-registry');
    const uid = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
    const labels = (more: Readonly<Record<string, string>>) =>
      Object.entries({ 'pod.name': 'web-0', 'pod.namespace': 'shop', 'pod.uid': uid, ...more }).flatMap(
        ([key, value]) => ['--label', `io.kubernetes.${key}=${value}`],
      );
    const run = async (name: string, more: Readonly<Record<string, string>>) => {
      const options = ['--name', `k8s_${name}_web-0_shop_${uid}_0`, '--net', 'host', '--oom-score-adj', '0'];
      return docker.docker([
        'run',
        '-d',
        ...options,
        ...labels({ 'container.name': name, ...more }),
        'busybox:1',
        'sleep',
        '2147483647',
      ]);
    };
    const pause = await run('POD', { 'docker.type': 'podsandbox' });
    const nginx = await run('nginx', { 'docker.type': 'container', 'sandbox.id': pause });

    expect(await resolve(folder, 'stallcap-registry')).toMatchObject({
      how: 'docker container name',
      sandbox: { id: registry.id, runtime: 'docker', namespace: 'moby', pod: null, shims: [{ pid: registry.shimPid }] },
    });
    expect(await resolve(folder, registry.id.slice(0, 12))).toMatchObject({ sandbox: { id: registry.id } });
    for (const asked of ['shop/web-0', 'web-0', uid, nginx, pause.slice(0, 12), `k8s_nginx_web-0_shop_${uid}_0`]) {
      expect(await resolve(folder, asked)).toMatchObject({
        kind: 'sandbox',
        sandbox: {
          id: pause,
          pod: { name: 'web-0', namespace: 'shop', uid },
          shims: [{ namespace: 'moby' }, { namespace: 'moby' }],
          containers: [
            { id: pause, kind: 'sandbox', how: 'docker labels' },
            { id: nginx, kind: 'container', name: 'nginx' },
          ],
        },
      });
    }
    const { daemons } = await inventoryOf(folder);
    expect(daemons.find(({ pid }) => pid === docker.pid)).toMatchObject({
      kind: 'dockerd',
      address: `unix://${docker.socket}`,
      root: join(folder.path, 'data'),
      state: join(folder.path, 'exec'),
    });
    expect(daemons.find(({ pid }) => pid === docker.containerdPid)).toMatchObject({
      kind: 'containerd',
      address: docker.containerdSocket,
    });
  });
});

describe.skipIf(labUnavailable())('a target on another containerd', () => {
  it('of 1.7 is found by pod name and by container', async ({ skip }) => {
    const binaries = await newerContainerd();
    if ('reason' in binaries) return skip(binaries.reason);
    await using containerd = await startContainerd({ bin: binaries.bin });
    const pod = await containerd.runPod({ name: 'newer', namespace: 'shop' });
    const app = await pod.addContainer({ name: 'app' });
    for (const asked of ['newer', 'shop/newer', app.id.slice(0, 12)]) {
      expect(await resolve(containerd.folder, asked)).toMatchObject({
        sandbox: {
          id: pod.id,
          shims: [{ pid: pod.shimPid, root: containerd.root }],
          containers: [{ id: pod.id }, { id: app.id, name: 'app' }],
        },
      });
    }
  });

  it('in a mount namespace of its own is read through its own root', async () => {
    await using containerd = await startContainerd({ prefix: ['unshare', '--mount', '--propagation', 'private'] });
    const pod = await containerd.runPod({ name: 'inside', namespace: 'shop' });
    const app = await pod.addContainer({ name: 'app' });
    const through = `/proc/${containerd.pid}/root`;
    expect(await resolve(containerd.folder, 'inside')).toMatchObject({
      sandbox: {
        id: pod.id,
        shims: [
          {
            pid: pod.shimPid,
            bundle: through + pod.bundle,
            root: through + containerd.root,
            address: containerd.socket,
          },
        ],
        containers: [{ id: pod.id }, { id: app.id, initPid: app.initPid, bundle: through + app.bundle }],
      },
    });
  });
});
