import { describe, expect, it } from 'vitest';
import { StallcapError } from '../../src/errors.ts';
import type { ProcessLook } from '../../src/host/port.ts';
import { takeInventory } from '../../src/sandbox/inventory.ts';
import { type ResolveOptions, resolveTarget } from '../../src/sandbox/resolve-target.ts';
import { lookOf } from './looks.ts';
import { MemoryHost } from './memory-host.ts';
import { addDocker, addPod, idOf } from './pods.ts';

const TASKS = '/run/containerd/io.containerd.runtime.v2.task/k8s.io';

async function resolve(memory: MemoryHost, asked: string | null, options: Partial<ResolveOptions> = {}) {
  const inventory = await takeInventory(memory.host, options.firstLook ?? null, 5000);
  return resolveTarget(asked, inventory, memory.host, { firstLook: null, ...options });
}

async function refusal(memory: MemoryHost, asked: string | null): Promise<StallcapError> {
  const error = await resolve(memory, asked).then(
    target => expect.fail(`found ${JSON.stringify(target)}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StallcapError);
  return error as StallcapError;
}

/** web-0 in two namespaces, db in one; docker's registry and pod. */
function node(): MemoryHost {
  const memory = new MemoryHost();
  addPod(memory, { name: 'web-0', podNamespace: 'shop', uid: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f9', shimPid: 200 });
  addPod(memory, { name: 'web-0', podNamespace: 'test', shimPid: 300 });
  addPod(memory, { name: 'db', podNamespace: 'shop', shimPid: 400 });
  addDocker(memory, 'plain', 510);
  return memory;
}

const shimOf = (target: Awaited<ReturnType<typeof resolve>>) =>
  target.kind === 'sandbox' ? target.sandbox.shims[0]?.pid : undefined;

describe('a target', () => {
  it.each([
    ['its sandbox id', idOf('db@shop'), 400, 'sandbox id'],
    ['a beginning of its sandbox id', idOf('db@shop').slice(0, 9), 400, 'sandbox id prefix'],
    ['a container id', idOf('app/db@shop'), 400, 'container id'],
    ['a beginning of a container id', idOf('app/db@shop').slice(0, 12), 400, 'container id prefix'],
    ['what kubectl prints', `containerd://${idOf('app/db@shop')}`, 400, 'container id'],
    ['its pod name', 'db', 400, 'pod name'],
    ['namespace and pod', 'test/web-0', 300, 'namespace and pod name'],
    ['its pod uid', '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f9', 200, 'pod uid'],
    ['its pod uid as systemd writes it', '0F1E2D3C_4b5a_6978_8796_a5b4c3d2e1f9', 200, 'pod uid'],
    ["docker's name", 'registry', 510, 'docker container name'],
    ["docker's name with its slash", '/registry', 510, 'docker container name'],
  ])('is found by %s', async (_, asked, pid, how) => {
    const target = await resolve(node(), asked);
    expect([shimOf(target), target.how, target.asked]).toEqual([pid, how, asked]);
  });

  it('is not kept from whoever asks by a process of its own container that pretends to be its shim', async () => {
    const memory = new MemoryHost();
    const within = { prefix: '/proc/150/root', mountNamespace: 'mnt:[7]' };
    addPod(memory, { name: 'web-0', shimPid: 200 });
    memory.add({ pid: 900, comm: 'sh', threads: 1, ppid: 200 });
    addPod(memory, { name: 'web-0', shimPid: 150, parent: 900, ...within });
    const target = await resolve(memory, 'shop/web-0');
    expect(shimOf(target)).toBe(200);
    expect(target.how).toBe('namespace and pod name; what goes by it within a container was left aside');
    // What is named by itself is taken, wherever it is: a node may be a container.
    addPod(memory, { name: 'inner', shimPid: 160, parent: 900, ...within });
    expect(shimOf(await resolve(memory, 'shop/inner'))).toBe(160);
  });

  it("of docker's pod is found by the long name of a container, pause included, and has all shims", async () => {
    const memory = new MemoryHost();
    addDocker(memory, 'sandbox', 210);
    addDocker(memory, 'container', 220);
    for (const name of ['POD', 'nginx']) {
      const target = await resolve(memory, `k8s_${name}_web-0_shop_0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0_0`);
      expect(target).toMatchObject({ kind: 'sandbox', sandbox: { shims: [{ pid: 210 }, { pid: 220 }] } });
    }
    expect((await refusal(memory, 'k8s_nginx_web-0_other_0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0_0')).exit).toBe(4);
  });

  it('that means several is refused with the candidates', async () => {
    const error = await refusal(node(), 'web-0');
    expect([error.code, error.exit]).toEqual(['ambiguous-target', 2]);
    expect(error.table).toBe(
      [
        'POD         SANDBOX       SHIM  AGE',
        `shop/web-0  ${idOf('web-0@shop').slice(0, 12)}  200   16 min 20 s`,
        `test/web-0  ${idOf('web-0@test').slice(0, 12)}  300   16 min 10 s`,
        '',
      ].join('\n'),
    );
  });

  it('by a beginning that several ids have is refused too', async () => {
    expect(await refusal(node(), idOf('web-0').slice(0, 10))).toMatchObject({ code: 'ambiguous-target', exit: 2 });
  });

  it('that is unknown is refused with what is near', async () => {
    const error = await refusal(node(), 'shop/wbe-0');
    expect([error.code, error.exit]).toEqual(['no-such-target', 4]);
    expect(error.table).toMatch(/shop\/web-0/);
    expect(error.table).not.toMatch(/shop\/db/);
    expect(await refusal(node(), 'nothing-like-it')).toMatchObject({ code: 'no-such-target', table: undefined });
  });

  it('is no accident of three characters', async () => {
    expect((await refusal(node(), idOf('db@shop').slice(0, 3))).code).toBe('no-such-target');
  });

  it('shows hostile names without their escapes', async () => {
    const memory = new MemoryHost();
    for (const shimPid of [200, 300]) addPod(memory, { name: 'e\x1b[31mvil\n', podNamespace: `n${shimPid}`, shimPid });
    const error = await refusal(memory, 'e\x1b[31mvil\n');
    expect(error.code).toBe('ambiguous-target');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
    expect(`${error.message}${error.table?.replaceAll('\n', '')}`).not.toMatch(/[\x00-\x1f]/);
    expect(error.table?.split('\n')).toHaveLength(4);
    const unknown = await refusal(memory, 'x\x1b]0;y\x07');
    expect(unknown.message).toContain('x\\x1b]0;y\\x07');
  });

  it('is the living one when a pod was made anew beside what is left of the old', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', podNamespace: 'shop', shimPid: 400 });
    const old = idOf('older');
    const annotations = {
      'io.kubernetes.cri.sandbox-id': old,
      'io.kubernetes.cri.sandbox-name': 'db',
      'io.kubernetes.cri.sandbox-namespace': 'shop',
    };
    memory.put(`${TASKS}/${old}/config.json`, JSON.stringify({ annotations }));
    expect(shimOf(await resolve(memory, 'db'))).toBe(400);
    expect(await resolve(memory, old)).toMatchObject({
      kind: 'remnant',
      remnant: { pod: { name: 'db' }, ids: [old], paths: [`${TASKS}/${old}`, `/run/containerd/runc/k8s.io/${old}`] },
    });
  });
});

describe('a process as target', () => {
  it.each([
    ['the shim', 200, 'pid of the shim'],
    ['an init', 202, 'descendant of shim 200'],
    ['something far below', 901, 'descendant of shim 200'],
  ])('leads to its sandbox: %s', async (_, pid, how) => {
    const memory = node()
      .add({ pid: 900, comm: 'sh', ppid: 202, threads: 1 })
      .add({ pid: 901, comm: 'dd', ppid: 900, threads: 1 });
    const target = await resolve(memory, `pid:${pid}`);
    expect([shimOf(target), target.how]).toEqual([200, how]);
  });

  it.each([
    `12:pids:/kubepods/besteffort/podx/${idOf('app/db@shop')}\n0::/\n`,
    `0::/kubepods.slice/kubepods-podx.slice/cri-containerd-${idOf('app/db@shop')}.scope\n`,
  ])('leads there by its cgroup when it left its parents: %s', async cgroup => {
    const target = await resolve(node().add({ pid: 950, comm: 'dd', ppid: 1, threads: 1, cgroup }), 'pid:950');
    expect([shimOf(target), target.how]).toEqual([400, 'cgroup']);
  });

  it('leads to what is left when it is an init without a shim, unless its number was used again', async () => {
    const memory = node()
      .remove(400)
      .add({ pid: 90, comm: 'containerd', argv: ['containerd'] });
    memory.add({ pid: 402, comm: 'sleep', ppid: 1, threads: 1, startTicks: '4020', cgroup: '0::/\n' });
    expect(await resolve(memory, 'pid:402')).toMatchObject({
      kind: 'remnant',
      how: 'pid of an init',
      remnant: { pod: { name: 'db' } },
    });
    memory.add({ pid: 402, comm: 'other', ppid: 1, threads: 1, startTicks: '999999', cgroup: '0::/\n' });
    expect((await refusal(memory, 'pid:402')).code).toBe('no-such-target');
  });

  it('by a thread, as the log of the kernel names one that hangs', async () => {
    const memory = node();
    memory.put('/proc/931/comm', 'containerd-shim\n');
    memory.put('/proc/931/status', 'Name:\tcontainerd-shim\nTgid:\t200\nPid:\t931\nPPid:\t1\nThreads:\t12\n');
    expect(await resolve(memory, 'pid:931')).toMatchObject({
      kind: 'sandbox',
      how: 'thread of 200, pid of the shim',
      sandbox: { shims: [{ pid: 200 }] },
    });
  });

  it('of nobody is refused, and so is one that is not there, and what is no number', async () => {
    const memory = node().add({ pid: 970, comm: 'sshd\x1b[2J', threads: 1 });
    expect(await refusal(memory, 'pid:970')).toMatchObject({
      exit: 4,
      message: 'Process 970 (sshd\\x1b[2J) belongs to no sandbox of this node.',
    });
    expect(await refusal(memory, 'pid:971')).toMatchObject({
      exit: 4,
      message: 'There is no process 971 on this node.',
    });
    expect(await refusal(memory, 'pid:x')).toMatchObject({ exit: 2, code: 'bad-target' });
    expect(await refusal(memory, 'pid:')).toMatchObject({ exit: 2 });
  });
});

describe('without a target', () => {
  const stuck = (pid: number, since: number): ProcessLook =>
    lookOf(pid, 'containerd-shim', [
      {},
      { state: 'D', wchan: 'wb_wait_for_completion', since, syscall: '166 0x1 0x0 0x0 0x0 0x0 0x0 0x7f 0x7e' },
    ]);
  const firstLook = (...shims: readonly ProcessLook[]) => ({ matchedBy: 'all' as const, shims, firstStackMs: 1 });

  it('the one sandbox that looks stuck is meant', async () => {
    const target = await resolve(node(), null, { firstLook: firstLook(stuck(300, 250)) });
    expect(shimOf(target)).toBe(300);
    expect(target).toMatchObject({
      asked: null,
      how: 'the only one that looks stuck: umount2 in wb_wait_for_completion for 4 min 10 s (shim 300)',
    });
  });

  it('one whose runc init hangs is found, though its shim is idle', async () => {
    const memory = node();
    const look = lookOf(410, 'runc:[2:INIT]', [
      { wchan: 'request_wait_answer', since: 30, syscall: '262 0x1 0x0 0x0 0x0 0x0 0x0 0x7f 0x7e' },
    ]);
    memory.add({ pid: 410, comm: 'runc:[2:INIT]', ppid: 400, look });
    const target = await resolve(memory, null);
    expect([shimOf(target), target.how]).toEqual([
      400,
      'the only one that looks stuck: newfstatat in request_wait_answer for 30.0 s (runc:[2:INIT] 410)',
    ]);
  });

  it('a name of several is refused with the one that is stuck on top', async () => {
    const memory = node();
    memory.add({ pid: 300, comm: 'containerd-shim', ...shimFiles(memory, 300), look: stuck(300, 250) });
    const error = await refusal(memory, 'web-0');
    expect([error.code, error.exit]).toEqual(['ambiguous-target', 2]);
    const [titles, first, second] = (error.table ?? '').split('\n');
    expect(titles).toMatch(/BLOCKED$/);
    expect(first).toMatch(/^test\/web-0 .* for 4 min 10 s \(shim 300\)$/);
    expect(second).toMatch(/^shop\/web-0 .* -$/);
    expect(error.next).toEqual([`Name one of them by its id: stallcap grab ${idOf('web-0@test').slice(0, 12)}`]);
  });

  it('of several that look stuck the longest comes first in the table', async () => {
    const memory = node();
    for (const [pid, since] of [
      [200, 5],
      [300, 250],
      [400, 60],
    ] as const)
      memory.add({ pid, comm: 'containerd-shim', ...shimFiles(memory, pid), look: stuck(pid, since) });
    const error = await refusal(memory, null);
    expect([error.code, error.exit]).toEqual(['ambiguous-target', 2]);
    expect(error.table?.split('\n').map(line => /^\S+/.exec(line)?.[0])).toEqual([
      'POD',
      'test/web-0',
      'shop/db',
      'shop/web-0',
      undefined,
    ]);
    expect(Math.max(...(error.table ?? '').split('\n').map(line => line.length))).toBeLessThanOrEqual(100);
  });

  it('and without a stall all are listed', async () => {
    const error = await refusal(node(), null);
    expect([error.code, error.exit]).toEqual(['no-target-given', 2]);
    expect(error.table?.split('\n')).toHaveLength(6);
    expect(await refusal(new MemoryHost(), null)).toMatchObject({ exit: 2, table: undefined });
  });

  it('a process held inside execve counts, of which nothing can be read but that it is in D', async () => {
    const memory = node();
    const silent = { ...lookOf(410, 'containerd-shim', []), outcome: 'timeout' as const };
    memory.add({ pid: 410, comm: 'containerd-shim', ppid: 400, threads: 1, state: 'D', look: silent });
    const target = await resolve(memory, null);
    expect([shimOf(target), target.how]).toEqual([400, 'the only one that looks stuck: state D (shim 410)']);
  });
});

function shimFiles(memory: MemoryHost, pid: number) {
  const link = memory.files.get(`/proc/${pid}/cwd`) as { readonly link: string };
  const argv = String(memory.files.get(`/proc/${pid}/cmdline`))
    .split('\0')
    .slice(0, -1);
  return { cwd: link.link, argv };
}

describe('a pod without a shim', () => {
  const UID = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
  function remains(): MemoryHost {
    const memory = node();
    memory.put(`/var/log/pods/shop_lost_${UID}/app/0.log`, '');
    memory.put(`/var/log/containers/lost_shop_app-${idOf('c1')}.log`, '');
    memory.put(`/var/lib/kubelet/pods/${UID}/etc-hosts`, '');
    memory.put(`/var/lib/kubelet/pods/${UID.replace('0f', 'ff')}/etc-hosts`, '');
    memory.put(`/var/lib/containerd/io.containerd.grpc.v1.cri/containers/${idOf('c1')}/status`, '');
    memory.put(`/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/${idOf('s1')}/hosts`, '');
    return memory;
  }

  it.each(['lost', 'shop/lost', UID])('is what is left of it, by %s', async asked => {
    expect(await resolve(remains(), asked)).toEqual({
      kind: 'remnant',
      asked,
      how: 'what is left on disk',
      remnant: {
        what: "pod shop/lost, which has no shim: its logs and kubelet's directory are left",
        pod: { name: 'lost', namespace: 'shop', uid: UID },
        ids: [idOf('c1')],
        paths: [
          `/var/log/pods/shop_lost_${UID}`,
          `/var/lib/kubelet/pods/${UID}`,
          `/var/log/containers/lost_shop_app-${idOf('c1')}.log`,
          `/var/lib/containerd/io.containerd.grpc.v1.cri/containers/${idOf('c1')}`,
        ],
      },
    });
  });

  it('may be known by an id of the CRI store alone', async () => {
    expect(await resolve(remains(), idOf('s1').slice(0, 6))).toMatchObject({
      kind: 'remnant',
      remnant: { pod: null, ids: [idOf('s1')] },
    });
    expect(await resolve(remains(), idOf('c1'))).toMatchObject({ remnant: { pod: { name: 'lost', uid: UID } } });
  });

  it("may be known by kubelet's directory alone", async () => {
    const uid = UID.replace('0f', 'ff');
    expect(await resolve(remains(), uid)).toMatchObject({
      remnant: { pod: null, paths: [`/var/lib/kubelet/pods/${uid}`] },
    });
  });

  it('is ambiguous by a name that two namespaces have, and not by a pod that was made anew', async () => {
    const memory = remains().put('/var/log/pods/test_lost_u-3/x', '');
    expect(await refusal(memory, 'lost')).toMatchObject({ code: 'ambiguous-target', exit: 2 });
    const anew = remains().put('/var/log/pods/shop_lost_u-4/x', '');
    expect(await resolve(anew, 'lost')).toMatchObject({ remnant: { pod: { uid: null } } });
  });

  it('cannot be ruled out where the disk hangs, and the refusal says so', async () => {
    const error = await refusal(node().put('/var/log/pods', { outcome: 'timeout' }), 'nobody');
    expect(error.exit).toBe(4);
    expect(error.next[0]).toBe('Not looked at, and may be the one: /var/log/pods (timeout).');
  });

  it('nor where a bundle directory hangs, while a command line that hangs hides nobody', async () => {
    const config = `${TASKS}/${idOf('app/db@shop')}/config.json`;
    const memory = node().put(config, { outcome: 'timeout' }).put('/proc/200/cmdline', { outcome: 'timeout' });
    const error = await refusal(memory, 'nobody');
    expect([error.exit, error.next[0]]).toEqual([4, `Not looked at, and may be the one: ${config} (timeout).`]);
    expect(error.next.join(' ')).not.toContain('cmdline');
  });
});

describe('without the rights', () => {
  const DENIED = { outcome: 'denied', detail: 'EACCES: needs CAP_SYS_PTRACE' } as const;

  it('a refusal names the right, and no target is called unknown or without a shim', async () => {
    const memory = node();
    // Neither link nor command line: the shims are there and cannot be named.
    for (const pid of [200, 300, 400, 510]) memory.put(`/proc/${pid}/cwd`, DENIED).put(`/proc/${pid}/cmdline`, DENIED);
    memory.add({ pid: 90, comm: 'containerd', argv: ['containerd'] });
    for (const asked of ['db', 'nobody', null, 'pid:202']) {
      expect(await refusal(memory, asked)).toMatchObject({ code: 'not-permitted', exit: 5 });
    }
    expect((await refusal(memory, 'db')).message).toMatch(/needs CAP_SYS_PTRACE, to read \/proc\/200\/cwd\.$/);
    // Who is root already is not sent to sudo.
    expect((await refusal(memory, 'db')).next).toEqual([expect.stringMatching(/^In a pod: .*privileged/)]);
    memory.put('/proc/self/status', 'Uid:\t1000\t1000\t1000\t1000\n');
    expect(await refusal(memory, 'db')).toMatchObject({
      message: expect.stringMatching(/needs root, to read/),
      next: ['Run it as root: sudo stallcap …'],
    });
  });

  it('root without CAP_SYS_PTRACE finds shims by their command lines', async () => {
    const memory = node().add({ pid: 90, comm: 'containerd', argv: ['containerd'] });
    for (const pid of [200, 300, 400]) memory.put(`/proc/${pid}/cwd`, DENIED);
    expect(shimOf(await resolve(memory, 'db'))).toBe(400);
    expect(shimOf(await resolve(memory, 'pid:402'))).toBe(400);
  });

  it('a bundle that may not be read is named: the pod in it may be the one that is meant', async () => {
    const path = `${TASKS}/${idOf('db@shop')}/config.json`;
    const denied = { outcome: 'denied', detail: 'EACCES: needs CAP_DAC_READ_SEARCH' } as const;
    const memory = node()
      .put(path, denied)
      .put(`${TASKS}/${idOf('app/db@shop')}/config.json`, denied);
    expect((await refusal(memory, 'db')).message).toContain(`needs CAP_DAC_READ_SEARCH, to read ${path}`);
    expect(shimOf(await resolve(memory, 'test/web-0'))).toBe(300);
  });

  it('a /proc that hides others is named', async () => {
    expect((await refusal(new MemoryHost().remove(1), 'db')).message).toMatch(/hidepid/);
  });
});
