import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { execa } from 'execa';
import { afterAll, describe, expect, it } from 'vitest';
import { StallcapError } from '../../src/errors.ts';
import { createHost } from '../../src/host/linux.ts';
import { takeInventory } from '../../src/sandbox/inventory.ts';
import type { ListDocument } from '../../src/sandbox/list-answer.ts';
import { resolveTarget } from '../../src/sandbox/resolve-target.ts';
import type { Target } from '../../src/sandbox/types.ts';
import { startContainerd } from './containerd.ts';
import { during } from './during.ts';
import type { LabFolder } from './folder.ts';
import { alive } from './proc.ts';
import { signal } from './processes.ts';
import { labUnavailable } from './requirements.ts';
import { dockerStopped } from './stalls/docker-stopped.ts';
import { exitEventLost } from './stalls/exit-event-lost.ts';
import { mountFuseStopped } from './stalls/mount-fuse-stopped.ts';
import { overlayUmountSync } from './stalls/overlay-umount-sync.ts';
import { until } from './wait.ts';

const ENTRY = fileURLToPath(new URL('../../bin/main.ts', import.meta.url));
const SCHEMA = JSON.parse(readFileSync(new URL('../../schemas/list.schema.json', import.meta.url), 'utf8'));
const matchesSchema = new Ajv2020({ allErrors: true, formats: { 'date-time': true } }).compile(SCHEMA);

const host = createHost();
afterAll(() => host.close());

/** The command itself, with what belongs to the lab's folder: others may use the machine too. */
async function list(folder: LabFolder, ...flags: readonly string[]) {
  const { stdout, exitCode } = await execa(process.execPath, [ENTRY, 'list', '--json', ...flags], {
    reject: false,
    stdin: 'ignore',
  });
  const document: ListDocument = JSON.parse(stdout);
  matchesSchema(document);
  expect(matchesSchema.errors).toBeNull();
  // Of the whole node: 3 may be owed to others.
  const { disagreements = [], gaps = [], shimsWithoutChildren = [], bundlesWithoutShim = [] } = document.check ?? {};
  const found = [disagreements, gaps, shimsWithoutChildren, bundlesWithoutShim].some(({ length }) => length > 0);
  const silent = document.probe?.some(({ pid, answeredBy }) => answeredBy !== pid) ?? false;
  expect(exitCode).toBe(found || silent ? 3 : 0);
  const own = new Set((await ours(folder)).map(({ id }) => id));
  return {
    exitCode,
    sandboxes: document.sandboxes.filter(({ id }) => own.has(id)),
    disagreements: disagreements.filter(({ path }) => path.includes(folder.path)),
    idle: shimsWithoutChildren.filter(({ id }) => own.has(id)),
    lost: bundlesWithoutShim.filter(({ path }) => path.includes(folder.path)),
    probe: document.probe?.filter(({ id }) => own.has(id)) ?? [],
    gaps: [...document.gaps, ...(document.check?.gaps ?? [])].filter(({ path }) => path.includes(folder.path)),
  };
}

async function ours(folder: LabFolder) {
  const { sandboxes } = await takeInventory(host, null, 10_000);
  return sandboxes.filter(({ containers }) => containers[0]?.bundle.includes(folder.path));
}

async function theStuckOne(folder: LabFolder): Promise<Target> {
  const inventory = { ...(await takeInventory(host, null, 10_000)), sandboxes: await ours(folder) };
  return resolveTarget(null, inventory, host, { firstLook: null });
}

describe.skipIf(labUnavailable())('the list of a real node', () => {
  it('shows healthy pods without a blocked thread, and CRI agreeing with /proc', async () => {
    await using containerd = await startContainerd();
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const app = await pod.addContainer({ name: 'app' });
    await new Promise(resolve => setTimeout(resolve, 1500));

    const { sandboxes, disagreements, gaps, idle, lost, probe } = await list(containerd.folder, '--check', '--probe');

    expect([disagreements, gaps, idle, lost]).toEqual([[], [], [], []]);
    expect(probe).toMatchObject([
      {
        pid: pod.shimPid,
        sandbox: 'shop/web-0',
        outcome: 'ok',
        service: 'containerd.task.v2.Task',
        answeredBy: pod.shimPid,
      },
    ]);
    expect(sandboxes).toMatchObject([
      {
        name: 'shop/web-0',
        id: pod.id,
        pod: { name: 'web-0', namespace: 'shop', uid: pod.uid },
        namespace: 'k8s.io',
        shims: [{ pid: pod.shimPid, bundleDeleted: false }],
        containers: [
          { id: pod.id, kind: 'sandbox', initPid: pod.initPid, initAlive: true },
          { id: app.id, kind: 'container', name: 'app', initPid: app.initPid, initAlive: true },
        ],
        blocked: [],
      },
    ]);
    expect(sandboxes[0]?.ageSeconds).toBeGreaterThan(1);
    expect(sandboxes[0]?.ageSeconds).toBeLessThan(60);
    await expect(theStuckOne(containerd.folder)).rejects.toThrow(StallcapError);

    signal(pod.shimPid, 'SIGSTOP');
    containerd.folder.process(pod.shimPid, 'containerd-shim');
    signal(app.initPid, 'SIGKILL');
    try {
      await new Promise(resolve => setTimeout(resolve, 1500));
      const stopped = await list(containerd.folder, '--check', '--probe');
      // Its kernel takes the connection.
      expect(stopped.probe).toMatchObject([{ pid: pod.shimPid, outcome: 'timeout', answeredBy: null }]);
      // Nobody reaps it: the process is a zombie, its container is running for CRI.
      expect(stopped.disagreements).toMatchObject([
        {
          containerId: app.id,
          containerName: 'app',
          sandbox: 'shop/web-0',
          by: 'CRI',
          says: 'running',
          initAlive: false,
        },
      ]);
      expect(stopped.exitCode).toBe(3);
      expect(stopped.sandboxes[0]?.containers[1]).toMatchObject({ name: 'app', initAlive: false });
      expect(stopped.sandboxes[0]?.blocked[0]).toMatchObject({ pid: pod.shimPid, state: 'T' });
    } finally {
      signal(pod.shimPid, 'SIGCONT');
    }
  });

  it('finds a shim that serves nothing any more, and bundles whose shim is gone', async () => {
    await using containerd = await startContainerd();
    const idle = await containerd.runPod({ name: 'idle', namespace: 'shop' });
    const lost = await containerd.runPod({ name: 'lost', namespace: 'shop' });
    const app = await lost.addContainer({ name: 'app' });
    const inits = [idle.initPid, lost.initPid, app.initPid];
    await containerd.kill();
    signal(lost.shimPid, 'SIGKILL');
    for (const pid of inits) signal(pid, 'SIGKILL');
    await until('the shim to have reaped its only container', 5000, () => !alive(idle.initPid));
    const found = await list(containerd.folder, '--check', '--probe');
    expect(found.idle).toMatchObject([{ pid: idle.shimPid, sandbox: 'shop/idle' }]);
    expect(found.lost.map(({ sandbox, path }) => [sandbox, path])).toEqual([
      ['shop/lost', lost.bundle],
      ['shop/lost', app.bundle],
    ]);
    // It lives, and answers.
    expect(found.probe).toMatchObject([{ pid: idle.shimPid, outcome: 'ok' }]);
    expect(found.exitCode).toBe(3);
  });

  it('asks a shim by its open socket when a restarted containerd has deleted its bundle', async () => {
    await using containerd = await startContainerd();
    const given = await containerd.runPod({ name: 'given-up', namespace: 'shop' });
    await containerd.kill();
    signal(given.shimPid, 'SIGSTOP');
    try {
      await containerd.start();
      await until('containerd to delete the bundle', 30_000, () => !existsSync(given.bundle));
    } finally {
      signal(given.shimPid, 'SIGCONT');
    }
    const { probe } = await list(containerd.folder, '--probe');
    expect(probe).toMatchObject([{ pid: given.shimPid, outcome: 'ok', answeredBy: given.shimPid }]);
  });

  it('is refused to who may not see it, naming what that needs', async ({ skip }) => {
    await using containerd = await startContainerd();
    await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    const readable = await execa('setpriv', [...asNobody, 'test', '-r', ENTRY], { reject: false });
    if (readable.exitCode !== 0) return skip('nobody may not read these sources');
    const argv = [...asNobody, process.execPath, ENTRY, 'list', '--json'];
    const { stdout, exitCode } = await execa('setpriv', argv, { reject: false, stdin: 'ignore' });
    expect(exitCode).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: 'not-permitted',
        exit: 5,
        message: expect.stringMatching(/needs root, to read \/proc\/\d+\/cwd\.$/),
      },
    });
  });

  it('names the pod whose shim hangs in umount2, and what it waits for', () =>
    during(overlayUmountSync(), async ({ folder, pod, container, thread }) => {
      const { sandboxes, disagreements, gaps, exitCode } = await list(folder, '--check');
      expect(sandboxes[0]?.blocked[0]).toMatchObject({
        pid: pod.shimPid,
        tid: thread.tid,
        comm: 'containerd-shim',
        state: 'D',
        syscall: 'umount2',
        place: thread.wchan,
      });
      expect(sandboxes[0]?.blocked[0]?.blockedForSeconds).toBeGreaterThanOrEqual(1);
      // Its status file lies on the disk that is behind: what it says, or that it did not come in time.
      if (gaps.length === 0)
        expect(disagreements).toMatchObject([{ containerId: container.id, says: 'running', initAlive: false }]);
      else expect(gaps.map(({ path }) => path).join('\n')).toContain('/io.containerd.grpc.v1.cri/');
      expect(exitCode).toBe(3);
      expect(await theStuckOne(folder)).toMatchObject({
        kind: 'sandbox',
        asked: null,
        how: expect.stringMatching(/^the only one that looks stuck: umount2 in \w+ for /),
        sandbox: { id: pod.id },
      });
    }));

  it('names the pod whose runc init waits for FUSE, though no thread of it is in D', () =>
    during(mountFuseStopped(), async ({ folder, pod, runcPid, thread }) => {
      await new Promise(resolve => setTimeout(resolve, 1500));
      const { sandboxes } = await list(folder);
      const blocked = sandboxes[0]?.blocked ?? [];
      expect(blocked).toContainEqual(
        expect.objectContaining({
          pid: thread.pid,
          tid: thread.tid,
          state: 'S',
          place: 'request_wait_answer',
          syscall: 'newfstatat',
        }),
      );
      expect(blocked.map(({ pid }) => pid)).toContain(runcPid);
      expect(blocked.map(({ pid }) => pid)).not.toContain(pod.shimPid);
      expect(await theStuckOne(folder)).toMatchObject({ sandbox: { id: pod.id } });
    }));

  it('finds a container whose end containerd has never heard of', () =>
    during(exitEventLost(), async ({ folder, container, initPid }) => {
      await new Promise(resolve => setTimeout(resolve, 1500));
      const { disagreements, exitCode } = await list(folder, '--check');
      expect(disagreements).toMatchObject([
        { containerId: container.id, by: 'CRI', says: 'running', initPid, initAlive: false },
      ]);
      expect(exitCode).toBe(3);
    }));

  it('finds a container that docker calls running and that is gone', () =>
    during(dockerStopped(), async ({ folder, container }) => {
      await new Promise(resolve => setTimeout(resolve, 1500));
      const { disagreements, sandboxes } = await list(folder, '--check');
      expect(disagreements).toMatchObject([
        {
          containerId: container.id,
          containerName: 'web',
          by: 'docker',
          says: 'running',
          initAlive: false,
          path: container.configFile,
        },
      ]);
      expect(sandboxes).toMatchObject([{ name: 'web', runtime: 'docker', pod: null }]);
    }));
});
