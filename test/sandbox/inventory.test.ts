import { describe, expect, it } from 'vitest';
import { takeInventory } from '../../src/sandbox/inventory.ts';
import type { Sandbox } from '../../src/sandbox/types.ts';
import { stateText } from '../formats/runtime/fixture.ts';
import { MemoryHost } from './memory-host.ts';
import { addDocker, addPod, idOf } from './pods.ts';

const inventoryOf = (memory: MemoryHost) => takeInventory(memory.host, null, 5000);

function only(sandboxes: readonly Sandbox[]): Sandbox {
  expect(sandboxes).toHaveLength(1);
  return sandboxes[0] as Sandbox;
}

const TASKS = '/run/containerd/io.containerd.runtime.v2.task/k8s.io';

describe('the inventory of a node', () => {
  it.each(['1.6', '2.3'] as const)('finds a pod with its shim and its containers: containerd %s', async version => {
    const memory = new MemoryHost();
    const { sandboxId, dir } = addPod(memory, {
      name: 'web-0',
      shimPid: 200,
      containers: ['nginx', 'sidecar'],
      version,
    });

    const { sandboxes, gaps } = await inventoryOf(memory);

    expect(gaps).toEqual([]);
    expect(only(sandboxes)).toMatchObject({
      id: sandboxId,
      namespace: 'k8s.io',
      pod: { name: 'web-0', namespace: 'shop', uid: 'uid-web-0' },
      runtime: 'containerd',
      shims: [
        {
          pid: 200,
          startTicks: '2000',
          generation: 'v2',
          bundle: dir,
          bundleDeleted: false,
          id: sandboxId,
          state: '/run/containerd',
          root: '/var/lib/containerd',
          address: '/run/containerd/containerd.sock',
          socket: `unix:///run/containerd/s/${sandboxId}`,
          shimVersion: version === '2.3' ? 3 : null,
        },
      ],
      containers: [
        { id: sandboxId, kind: 'sandbox', name: null, initPid: 201, initStartTicks: '2010', shimPid: 200 },
        { kind: 'container', name: 'nginx', initPid: 202, shimPid: 200, how: 'annotation' },
        {
          kind: 'container',
          name: 'sidecar',
          initPid: 203,
          runcState: `/run/containerd/runc/k8s.io/${idOf('sidecar/web-0@shop')}`,
        },
      ],
    });
  });

  it('names a pod of containerd 1.4 by its log directory', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'web-0', shimPid: 200, version: '1.4' });
    const sandbox = only((await inventoryOf(memory)).sandboxes);
    expect(sandbox.pod).toEqual({ name: 'web-0', namespace: 'shop', uid: 'uid-web-0' });
    expect(sandbox.containers.map(({ kind }) => kind)).toEqual(['sandbox', 'container']);
  });

  it('groups a container that only the file `sandbox` ties to its pod', async () => {
    const memory = new MemoryHost();
    const { sandboxId } = addPod(memory, { name: 'web-0', shimPid: 200, containers: [] });
    memory.put(`${TASKS}/${idOf('other')}/config.json`, '{}').put(`${TASKS}/${idOf('other')}/sandbox`, sandboxId);
    const sandbox = only((await inventoryOf(memory)).sandboxes);
    expect(sandbox.containers.map(({ id, how }) => [id, how])).toEqual([
      [sandboxId, 'annotation'],
      [idOf('other'), 'sandbox file'],
    ]);
  });

  it("groups a container that only its shim's address ties to its pod", async () => {
    const memory = new MemoryHost();
    const { sandboxId } = addPod(memory, { name: 'web-0', shimPid: 200, containers: [] });
    memory.put(`${TASKS}/${idOf('other')}/address`, `unix:///run/containerd/s/${sandboxId}`);
    const sandbox = only((await inventoryOf(memory)).sandboxes);
    expect(sandbox.containers[1]).toMatchObject({ id: idOf('other'), how: 'address', shimPid: 200 });
  });

  it('keeps a container of ctr as a sandbox of its own', async () => {
    const memory = new MemoryHost();
    const dir = '/run/containerd/io.containerd.runtime.v2.task/default/one';
    memory.add({
      pid: 300,
      comm: 'containerd-shim',
      cwd: dir,
      argv: ['containerd-shim-runc-v2', '-namespace', 'default', '-id', 'one'],
    });
    memory.put(`${dir}/config.json`, '{}').put(`${dir}/init.pid`, '301');
    expect(only((await inventoryOf(memory)).sandboxes)).toMatchObject({
      id: 'one',
      namespace: 'default',
      pod: null,
      containers: [{ id: 'one', kind: 'container', initPid: 301, initStartTicks: null, how: 'own bundle' }],
    });
  });

  it('knows v1 shims, one for each container of a pod', async () => {
    const memory = new MemoryHost();
    const parent = '/run/containerd/io.containerd.runtime.v1.linux/k8s.io';
    for (const [index, id] of ['pause', 'app'].map(idOf).entries()) {
      const pid = 400 + index * 10;
      memory.add({
        pid,
        comm: 'containerd-shim',
        cwd: `${parent}/${id}`,
        argv: `containerd-shim -namespace k8s.io -workdir /var/lib/containerd/io.containerd.runtime.v1.linux/k8s.io/${id} -address /run/containerd/containerd.sock -containerd-binary /usr/bin/containerd -runtime-root /run/runc-v1`.split(
          ' ',
        ),
      });
      const annotations = {
        'io.kubernetes.cri.container-type': index === 0 ? 'sandbox' : 'container',
        'io.kubernetes.cri.sandbox-id': idOf('pause'),
        ...(index === 0 ? { 'io.kubernetes.cri.sandbox-log-directory': '/var/log/pods/shop_old_u-1' } : {}),
      };
      memory.put(`${parent}/${id}/config.json`, JSON.stringify({ annotations }));
      memory.put(
        `/run/runc-v1/k8s.io/${id}/state.json`,
        `{"id":"${id}","init_process_pid":${pid + 1},"init_process_start":7,"created":""}`,
      );
    }
    const sandbox = only((await inventoryOf(memory)).sandboxes);
    expect(sandbox).toMatchObject({
      pod: { name: 'old', namespace: 'shop', uid: 'u-1' },
      shims: [
        { pid: 400, generation: 'v1', id: idOf('pause'), root: '/var/lib/containerd' },
        { pid: 410, generation: 'v1', id: idOf('app') },
      ],
      containers: [
        { kind: 'sandbox', initPid: 401, shimPid: 400, runcState: `/run/runc-v1/k8s.io/${idOf('pause')}` },
        { kind: 'container', initPid: 411, shimPid: 410 },
      ],
    });
  });

  it('tells two containerds with the same namespace apart by their addresses', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'a', shimPid: 200 });
    addPod(memory, {
      name: 'b',
      shimPid: 300,
      state: '/run/k3s/containerd',
      root: '/var/lib/rancher/k3s/agent/containerd',
      address: '/run/k3s/containerd/containerd.sock',
    });
    memory.add({ pid: 90, comm: 'containerd', argv: ['/usr/bin/containerd'] });
    memory.add({
      pid: 91,
      comm: 'containerd',
      argv: ['containerd', '-c', '/etc/k3s.toml', '-a', '/run/k3s/containerd/containerd.sock'],
    });
    memory.put('/etc/k3s.toml', { outcome: 'timeout' });

    const { sandboxes, daemons, gaps } = await inventoryOf(memory);

    expect(sandboxes.map(({ pod, shims }) => [pod?.name, shims[0]?.state, shims[0]?.root])).toEqual([
      ['a', '/run/containerd', '/var/lib/containerd'],
      ['b', '/run/k3s/containerd', '/var/lib/rancher/k3s/agent/containerd'],
    ]);
    expect(daemons).toMatchObject([
      { pid: 90, address: '/run/containerd/containerd.sock', root: '/var/lib/containerd', state: '/run/containerd' },
      {
        pid: 91,
        address: '/run/k3s/containerd/containerd.sock',
        root: '/var/lib/rancher/k3s/agent/containerd',
        state: '/run/k3s/containerd',
      },
    ]);
    expect(gaps).toEqual([{ path: '/etc/k3s.toml', outcome: 'timeout' }]);
  });

  it('keeps two pods of the same id apart that live in nodes of kind, and reaches their files', async () => {
    const memory = new MemoryHost();
    for (const [pid, mountNamespace] of [
      [200, 'mnt:[1]'],
      [400, 'mnt:[2]'],
    ] as const) {
      addPod(memory, { name: 'web-0', shimPid: pid, mountNamespace, prefix: `/proc/${pid - 100}/root` });
      memory.add({ pid: pid - 100, comm: 'containerd', argv: ['containerd'], mountNamespace });
    }
    const { sandboxes, daemons } = await inventoryOf(memory);
    expect(sandboxes).toHaveLength(2);
    expect(sandboxes.map(({ shims }) => shims.map(({ pid, root }) => [pid, root]))).toEqual([
      [[200, '/proc/100/root/var/lib/containerd']],
      [[400, '/proc/300/root/var/lib/containerd']],
    ]);
    expect(sandboxes[0]?.containers[1]).toMatchObject({
      bundle: `/proc/100/root${TASKS}/${idOf('app/web-0@shop')}`,
      runcState: `/proc/100/root/run/containerd/runc/k8s.io/${idOf('app/web-0@shop')}`,
      initPid: 202,
    });
    expect(daemons[0]).toMatchObject({
      address: '/run/containerd/containerd.sock',
      root: '/proc/100/root/var/lib/containerd',
    });
  });

  it('knows the inits of a node that has pids of its own by our numbers', async () => {
    const memory = new MemoryHost();
    const mountNamespace = 'mnt:[1]';
    const prefix = '/proc/100/root';
    addPod(memory, { name: 'web-0', shimPid: 200, containers: ['app', 'ended'], mountNamespace, prefix });
    memory.add({ pid: 100, comm: 'containerd', argv: ['containerd'], mountNamespace, innerPids: [40] });
    // What runc in there calls 201 and 202 are others here; 203 has ended.
    for (const pid of [201, 202, 203]) memory.remove(pid);
    memory.add({ pid: 202, comm: 'sshd', startTicks: '7' });
    memory.add({ pid: 901, comm: 'pause', ppid: 200, startTicks: '2010', innerPids: [201, 1], mountNamespace });
    memory.add({ pid: 902, comm: 'app', ppid: 200, startTicks: '2020', innerPids: [202, 1], mountNamespace });
    const { sandboxes } = await inventoryOf(memory);
    expect(sandboxes[0]?.containers.map(({ name, initPid }) => [name, initPid])).toEqual([
      [null, 901],
      ['app', 902],
      ['ended', null],
    ]);
  });

  it('keeps a shim whose bundle was deleted, with what its children and open files still tell', async () => {
    const memory = new MemoryHost();
    const app = idOf('app');
    const uid = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
    addPod(memory, { name: 'alive', shimPid: 200 });
    memory.add({
      pid: 500,
      comm: 'containerd-shim',
      cwd: `${TASKS}/.${idOf('gone')} (deleted)`,
      stderr: `${TASKS}/.${idOf('gone')}/log (deleted)`,
      argv: null,
      fds: {
        17: `/run/containerd/io.containerd.grpc.v1.cri/containers/${idOf('log')}/io/48/${idOf('log')}-stdout (deleted)`,
      },
    });
    memory.add({
      pid: 501,
      comm: 'dd',
      ppid: 500,
      threads: 1,
      cgroup: `12:pids:/kubepods/burstable/pod${uid}/${app}\n0::/\n`,
    });
    memory.put(`/var/log/pods/shop_lost_${uid}/app/0.log`, '');

    const lost = (await inventoryOf(memory)).sandboxes.find(({ id }) => id === idOf('gone'));

    expect(lost).toMatchObject({
      pod: { name: 'lost', namespace: 'shop', uid },
      shims: [{ pid: 500, id: idOf('gone'), bundleDeleted: true, root: '/var/lib/containerd', argv: null }],
    });
    expect(lost?.containers.map(({ id, initPid, how }) => [id, initPid, how])).toEqual([
      [idOf('gone'), null, 'own bundle'],
      [idOf('log'), null, 'open files of the shim'],
      [app, 501, 'cgroup of a child of the shim'],
    ]);
  });

  it('names the pod of such a shim by the log of a container whose fifo it holds', async () => {
    const memory = new MemoryHost();
    const held = `/run/containerd/io.containerd.grpc.v1.cri/containers/${idOf('log')}/io/48/${idOf('log')}-stdout`;
    memory.add({
      pid: 500,
      comm: 'containerd-shim',
      cwd: `${TASKS}/.${idOf('gone')} (deleted)`,
      argv: ['containerd-shim-runc-v2', '-id', idOf('gone')],
      fds: { 17: held },
    });
    memory.put(`/var/log/containers/lost_shop_app-${idOf('log')}.log`, '');
    expect(only((await inventoryOf(memory)).sandboxes)).toMatchObject({
      pod: { name: 'lost', namespace: 'shop', uid: null },
      containers: [{ id: idOf('gone') }, { id: idOf('log'), name: 'app' }],
    });
  });

  it('does not call a shim gone that only came while it looked', async () => {
    const memory = new MemoryHost();
    memory.add({ pid: 90, comm: 'containerd', argv: ['containerd'] });
    const read = memory.readRisky.bind(memory);
    memory.readRisky = async (files, deadline) => {
      if (memory.calls.length === 1) addPod(memory, { name: 'new', shimPid: 200 });
      return read(files, deadline);
    };
    expect(only((await inventoryOf(memory)).sandboxes)).toMatchObject({ pod: { name: 'new' }, shims: [{ pid: 200 }] });
  });

  it('keeps a bundle without a shim, as a sandbox without one', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'dead', shimPid: 200 });
    memory.remove(200).add({ pid: 90, comm: 'containerd', argv: ['containerd'] });
    expect(only((await inventoryOf(memory)).sandboxes)).toMatchObject({
      pod: { name: 'dead' },
      shims: [],
      containers: [{ initPid: 201, shimPid: null }, { initPid: 202 }],
    });
  });
});

describe('what is no shim', () => {
  const argv = `/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -address /a.sock -publish-binary /usr/bin/containerd -id`;

  it.each(['start', 'delete'])('a %s helper, though name and working directory are those of a shim', async action => {
    const memory = new MemoryHost();
    const { dir, sandboxId } = addPod(memory, { name: 'web-0', shimPid: 200 });
    memory.add({
      pid: 600,
      comm: 'containerd-shim',
      cwd: dir,
      stderr: 'pipe:[1]',
      argv: [...argv.split(' '), sandboxId, action],
    });
    expect(only((await inventoryOf(memory)).sandboxes).shims.map(({ pid }) => pid)).toEqual([200]);
  });

  it('a helper whose command line hangs: its stderr is a pipe, that of a shim its log fifo', async () => {
    const memory = new MemoryHost();
    const { dir } = addPod(memory, { name: 'web-0', shimPid: 200 });
    memory.add({ pid: 600, comm: 'containerd-shim', cwd: dir, stderr: 'pipe:[1]', argv: null });
    memory.put('/proc/200/cmdline', { outcome: 'timeout' });
    const { sandboxes, gaps } = await inventoryOf(memory);
    expect(only(sandboxes).shims).toMatchObject([{ pid: 200, argv: null, address: null }]);
    expect(gaps.map(({ path }) => path)).toEqual(['/proc/200/cmdline', '/proc/600/cmdline']);
  });

  it('a child of the shim that hangs in its execve: same name, command line and directory, one thread', async () => {
    const memory = new MemoryHost();
    const { dir, sandboxId } = addPod(memory, { name: 'web-0', shimPid: 200 });
    const shimArgv = ['/usr/bin/containerd-shim-runc-v2', '-namespace', 'k8s.io', '-id', sandboxId, '-address', '/a'];
    memory.add({
      pid: 700,
      comm: 'containerd-shim',
      ppid: 200,
      threads: 1,
      cwd: dir,
      stderr: `${dir}/log`,
      argv: shimArgv,
    });
    memory.add({ pid: 701, comm: 'containerd', threads: 1 });
    const { sandboxes, daemons } = await inventoryOf(memory);
    expect(only(sandboxes).shims.map(({ pid }) => pid)).toEqual([200]);
    expect(daemons).toEqual([]);
  });

  it('`containerd publish`, which an old shim runs', async () => {
    const memory = new MemoryHost();
    memory.add({
      pid: 90,
      comm: 'containerd',
      argv: ['containerd', '--address', '/a.sock', 'publish', '--topic', '/tasks/exit'],
    });
    expect((await inventoryOf(memory)).daemons).toEqual([]);
  });
});

describe('containers of docker', () => {
  it('of a pod are one sandbox with a shim each, pause included', async () => {
    const memory = new MemoryHost();
    const pause = addDocker(memory, 'sandbox', 210);
    const nginx = addDocker(memory, 'container', 220);
    memory.add({
      pid: 95,
      comm: 'dockerd',
      argv: ['dockerd', '-H', 'fd://', '--containerd=/run/containerd/containerd.sock'],
    });

    const { sandboxes, daemons } = await inventoryOf(memory);

    expect(only(sandboxes)).toMatchObject({
      id: pause,
      namespace: 'moby',
      runtime: 'docker',
      pod: { name: 'web-0', namespace: 'shop', uid: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0' },
      shims: [{ pid: 210 }, { pid: 220 }],
      containers: [
        { id: pause, kind: 'sandbox', name: null, shimPid: 210, how: 'docker labels' },
        {
          id: nginx,
          kind: 'container',
          name: 'nginx',
          shimPid: 220,
          runcState: `/var/run/docker/runtime-runc/moby/${nginx}`,
        },
      ],
    });
    expect(only(sandboxes).containers[1]?.initStartTicks).toMatch(/^\d+$/);
    expect(daemons).toMatchObject([
      { kind: 'dockerd', address: 'fd://', root: '/var/lib/docker', state: '/var/run/docker' },
    ]);
  });

  it('of plain docker stand alone under their names', async () => {
    const memory = new MemoryHost();
    const id = addDocker(memory, 'plain', 230);
    expect(only((await inventoryOf(memory)).sandboxes)).toMatchObject({
      id,
      runtime: 'docker',
      pod: null,
      containers: [{ id, kind: 'container', name: 'registry' }],
    });
  });

  it('are found when their disk hangs, by what lies in memory', async () => {
    const memory = new MemoryHost();
    const uid = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
    const pause = addDocker(memory, 'sandbox', 210);
    const nginx = addDocker(memory, 'container', 220);
    for (const id of [pause, nginx]) {
      memory.put(`/var/lib/docker/containers/${id}/config.v2.json`, { outcome: 'timeout' });
      // As kubelet has them: the pod's cgroup above the container's, and the pause container's files mounted.
      const path = `/var/run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby/${id}/config.json`;
      const config = stateText(id === pause ? 'moby/sandbox/config.json' : 'moby/container/config.json');
      memory.put(
        path,
        config
          .replace(`/docker/${id}`, `/kubepods/pod${uid}/${id}`)
          .replaceAll(`/containers/${nginx}/`, `/containers/${pause}/`),
      );
    }
    memory.put(`/var/log/pods/shop_web-0_${uid}/x`, '');

    const { sandboxes, gaps } = await inventoryOf(memory);

    expect(only(sandboxes)).toMatchObject({
      id: pause,
      pod: { name: 'web-0', namespace: 'shop', uid },
      shims: [{ pid: 210 }, { pid: 220 }],
    });
    // The second is not even asked for: it lies on the same disk.
    expect(gaps.filter(({ outcome }) => outcome === 'timeout')).toHaveLength(1);
  });
});

describe('a node with very much on it', () => {
  it('of 300 shims is read in few calls', async () => {
    const memory = new MemoryHost();
    for (let index = 0; index < 300; index += 1)
      addPod(memory, { name: `pod-${index}`, shimPid: 1000 + index * 10, containers: ['a', 'b'] });
    const { sandboxes, gaps } = await inventoryOf(memory);
    expect(sandboxes).toHaveLength(300);
    expect(sandboxes.every(({ containers, shims }) => containers.length === 3 && shims.length === 1)).toBe(true);
    expect(gaps).toEqual([]);
    expect(memory.calls.length).toBeLessThan(25);
  });

  it('of one pod takes six calls at most', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'web-0', shimPid: 200 });
    memory.add({ pid: 90, comm: 'containerd', argv: ['containerd'] });
    await inventoryOf(memory);
    expect(memory.calls.length).toBeLessThanOrEqual(6);
  });

  it('is no sandbox: a bundle directory that is only half made or half removed', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'web-0', shimPid: 200 });
    memory.put(`${TASKS}/${idOf('half')}/rootfs/x`, '').put(`${TASKS}/.${idOf('leaving')}/config.json`, '{}');
    expect(only((await inventoryOf(memory)).sandboxes).containers).toHaveLength(2);
  });

  it('stops at its deadline, and says what was left', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'web-0', shimPid: 200 });
    const read = memory.readRisky.bind(memory);
    memory.readRisky = async (files, deadline) => {
      memory.offsetMs += 3000;
      return read(files, deadline);
    };
    const { sandboxes, gaps } = await inventoryOf(memory);
    expect(sandboxes).toMatchObject([{ shims: [{ pid: 200 }], pod: null }]);
    expect(gaps.at(-1)?.detail).toMatch(/left for lack of time/);
  });

  it('may hold hostile names and broken files', async () => {
    const memory = new MemoryHost();
    const { dir } = addPod(memory, { name: 'e\x1b[31mvil\n"', podNamespace: '__proto__', shimPid: 200 });
    memory.put(
      `${TASKS}/${idOf('x')}/config.json`,
      '{"annotations":{"io.kubernetes.cri.sandbox-id":["a"]},"mounts":[null,7]}',
    );
    memory.put(`${TASKS}/${idOf('y')}/config.json`, '{}').put(`${TASKS}/${idOf('z')}/config.json`, '\xff\xfe{');
    memory.put(`${TASKS}/${idOf('y')}/init.pid`, '99999999999');
    memory.put(`${TASKS}/${idOf('y')}/options.json`, 'null');
    memory.put(`${dir}/address`, 'unix:///a b\nc');
    const { sandboxes } = await inventoryOf(memory);
    expect(sandboxes.map(({ pod }) => pod?.name)).toEqual(['e\x1b[31mvil\n"', undefined, undefined]);
    expect(sandboxes[2]?.containers[0]?.initPid).toBeNull();
    expect(sandboxes[0]?.shims[0]?.socket).toBeNull();
  });
});
