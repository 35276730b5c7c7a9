import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Collector, PHASES } from '../../src/collectors/collector.ts';
import { dockerApi } from '../../src/collectors/docker-api.ts';
import { collectors } from '../../src/collectors/index.ts';
import { parseViews } from '../../src/formats/views/document.ts';
import { judgeViews } from '../../src/formats/views/judge.ts';
import { viewsTable } from '../../src/report/views-table.ts';
import { startContainerd } from '../lab/containerd.ts';
import { startDocker } from '../lab/docker.ts';
import { containerdOf, VERSIONS } from '../lab/dumps/versions.ts';
import { during } from '../lab/during.ts';
import type { LabFolder } from '../lab/folder.ts';
import { threads } from '../lab/proc.ts';
import { signal } from '../lab/processes.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { containerdStopped } from '../lab/stalls/containerd-stopped.ts';
import { dockerStopped } from '../lab/stalls/docker-stopped.ts';
import { exitEventLost } from '../lab/stalls/exit-event-lost.ts';
import { umountDelayed } from '../lab/stalls/umount-delayed.ts';
import { SYSCALL } from '../lab/syscalls.ts';
import { until } from '../lab/wait.ts';
import { type Collected, collect } from './collect.ts';

const [SIX, , NEWEST] = VERSIONS;

const NAMES = ['views-before', 'node-samples', 'shim-answers', 'crictl', 'docker', 'views'];
const ASKING = collectors.filter(({ name }) => NAMES.includes(name));
/** Between the first reading and the questions lies a second or more, as in every grab. */
const OPTIONS = { samples: 2, intervalMs: 1200 };

interface Call {
  readonly call: string;
  readonly container: string | null;
  readonly service: string;
  readonly outcome: string;
  readonly latencyMs: number;
  readonly answer: Readonly<Record<string, unknown>> | null;
}

function shimCalls({ evidence }: Collected): readonly Call[] {
  return JSON.parse(evidence.get('runtime/shim.json')?.body.toString() ?? '[]') as readonly Call[];
}

function viewsIn({ evidence }: Collected) {
  const document = parseViews(evidence.get('runtime/views.json')?.body.toString() ?? '');
  if (document === null) throw new Error(`no views among ${[...evidence.keys()].join(', ')}`);
  const of = (id: string) => {
    const container = document.containers.find(candidate => candidate.id === id);
    if (container === undefined) throw new Error(`no container ${id}`);
    const words = new Map(container.views.map(({ source, word }) => [source as string, word]));
    const wrong = judgeViews(container).contradictions.map(({ view: { source } }) => source);
    return { words: Object.fromEntries(words), wrong: wrong.toSorted() };
  };
  const table = viewsTable(document);
  /** As the terminal shows it. */
  const rowOf = (name: string) => table.split('\n').find(line => line.startsWith(name));
  return { document, of, rowOf };
}

describe.skipIf(labUnavailable())('a pod that is well', () => {
  it.for(VERSIONS)('is the same to all its layers: containerd $version', async (version, { skip }) => {
    const binaries = await containerdOf(version);
    if ('reason' in binaries) return skip(binaries.reason);
    await using containerd = await startContainerd(binaries);
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const app = await pod.addContainer({ name: 'app' });
    const created = await pod.createContainer({ name: 'later' });
    const collected = await collect(pod.id, ASKING, OPTIONS);
    expect(collected.notGot).toEqual([]);
    const { document, of } = viewsIn(collected);
    expect(document.shims).toMatchObject([{ pid: pod.shimPid, outcome: 'ok', answeredBy: pod.shimPid }]);
    expect(of(pod.id)).toEqual({
      words: { '/proc': 'alive', runc: `init ${pod.initPid}`, shim: 'RUNNING', CRI: 'SANDBOX_READY' },
      wrong: [],
    });
    expect(of(app.id)).toEqual({
      words: {
        ...{ '/proc': 'alive', runc: `init ${app.initPid}`, shim: 'RUNNING' },
        ...{ 'CRI status file': 'running', CRI: 'CONTAINER_RUNNING' },
      },
      wrong: [],
    });
    // Created through CRI alone: there is no bundle, and so nothing to ask about.
    expect(document.containers.map(({ id }) => id)).not.toContain(created.id);
    const calls = shimCalls(collected);
    expect(calls.map(({ call, outcome }) => `${call} ${outcome}`)).toEqual(['Connect ok', 'State ok', 'State ok']);
    // The version of the API stands in bootstrap.json, so that the first question is the right one.
    const service = version.version === '2.x' ? 'containerd.task.v3.Task' : 'containerd.task.v2.Task';
    expect(calls.map(call => call.service)).toEqual([service, service, service]);
    expect(calls.find(({ container }) => container === app.id)?.answer).toMatchObject({
      ...{ id: app.id, bundle: app.bundle, pid: app.initPid, status: 'RUNNING', exitedAt: null },
    });
  });

  it('below a v1 shim is asked by the API of that time', async () => {
    await using containerd = await startContainerd();
    const container = await containerd.runContainer({ id: 'old', shim: 'v1' });
    const collected = await collect('old', ASKING, OPTIONS);
    expect(shimCalls(collected)).toMatchObject([
      { call: 'ShimInfo', service: 'containerd.runtime.linux.shim.v1.Shim', answer: { shimPid: container.shimPid } },
      { call: 'State', container: 'old', answer: { status: 'RUNNING', pid: container.initPid } },
    ]);
    expect(viewsIn(collected).of('old')).toEqual({
      words: { '/proc': 'alive', runc: `init ${container.initPid}`, shim: 'RUNNING' },
      wrong: [],
    });
  });
});

describe.skipIf(labUnavailable())('an umount that hangs in Delete', () => {
  it.for([SIX, NEWEST])(
    'is told by one table: Connect answers, State of that container does not, its sibling does, CRI says running: $version',
    async (version, { skip }) => {
      const binaries = await containerdOf(version);
      if ('reason' in binaries) return skip(binaries.reason);
      await during(
        umountDelayed({ siblings: ['side'], ...binaries }),
        async ({ pod, container, siblings: [sibling] }) => {
          const collected = await collect(pod.id, ASKING, OPTIONS);
          expect(collected.notGot).toEqual([]);
          const { document, of, rowOf } = viewsIn(collected);
          expect(document.shims).toMatchObject([{ outcome: 'ok', answeredBy: pod.shimPid }]);
          expect(document.shims[0]?.latencyMs).toBeLessThan(1000);
          expect(of(container.id)).toEqual({
            words: {
              ...{ '/proc': 'gone', runc: 'no record', shim: 'no answer' },
              ...{ 'CRI status file': 'running', CRI: 'CONTAINER_RUNNING' },
            },
            wrong: ['CRI', 'CRI status file'],
          });
          expect(of(sibling?.id ?? '')).toMatchObject({ words: { '/proc': 'alive', shim: 'RUNNING' }, wrong: [] });
          expect(of(pod.id)).toMatchObject({
            words: { '/proc': 'alive', shim: 'RUNNING', CRI: 'SANDBOX_READY' },
            wrong: [],
          });
          expect(rowOf('app')).toMatch(/^app +gone \d+ +no record +no answer 2\.\d s +running! for .+ +RUNNING!$/);
          expect(rowOf('side')).toMatch(/^side +alive \d+ +init \d+ +RUNNING +running for .+ +RUNNING$/);
          expect(rowOf('shim')).toMatch(/^shim \d+ answered Connect in \d+ ms$/);
          // A State that hangs is never repeated.
          expect(shimCalls(collected).filter(({ container: id }) => id === container.id)).toHaveLength(1);
        },
      );
    },
  );
});

describe.skipIf(labUnavailable())('a pod with twenty containers that hang in Delete', () => {
  const names = Array.from({ length: 19 }, (_, index) => `side-${index}`);

  it('is asked one State for each, all in the time of one', () =>
    during(umountDelayed({ siblings: names }), async ({ pod, container, siblings }) => {
      for (const { initPid } of siblings) signal(initPid, 'SIGKILL');
      const held = () => threads(pod.shimPid).filter(({ syscall }) => syscall === SYSCALL.umount2).length;
      await until('all of them to be held in umount2', 60_000, () => held() === 20);
      const started = performance.now();
      const collected = await collect(
        pod.id,
        collectors.filter(({ name }) => name === 'shim-answers'),
      );
      expect(performance.now() - started).toBeLessThan(5000);
      const [connect, ...states] = shimCalls(collected);
      expect(connect).toMatchObject({ call: 'Connect', outcome: 'ok' });
      const stuck = [container, ...siblings].map(({ id }) => id);
      expect(
        states
          .filter(({ outcome }) => outcome === 'timeout')
          .map(({ container: id }) => id)
          .toSorted(),
      ).toEqual(stuck.toSorted());
      expect(states.filter(({ outcome }) => outcome === 'ok').map(({ container: id }) => id)).toEqual([pod.id]);
      const { at } = collected.evidence.get('runtime/shim.json') ?? {};
      expect(at?.durationMs).toBeGreaterThan(1990);
      expect(at?.durationMs).toBeLessThan(3000);
    }));
});

describe.skipIf(labUnavailable())('an exit that containerd has never heard of', () => {
  it('is told: the task is stopped, CRI says running, the process is gone', () =>
    during(exitEventLost(), async ({ pod, container }) => {
      await sleep(1000);
      const { of, rowOf } = viewsIn(await collect(pod.id, ASKING, OPTIONS));
      expect(of(container.id)).toMatchObject({
        words: { '/proc': 'gone', shim: 'STOPPED', 'CRI status file': 'running', CRI: 'CONTAINER_RUNNING' },
        wrong: ['CRI', 'CRI status file'],
      });
      expect(rowOf('app')).toMatch(/^app +gone \d+ +init \d+ +STOPPED +running! for .+ +RUNNING!$/);
    }));
});

describe.skipIf(labUnavailable())('a dockerd that is stopped', () => {
  it('is told: config.v2.json says running, the task is stopped, docker does not answer', () =>
    during(dockerStopped(), async ({ container }) => {
      await sleep(1000);
      const { of, rowOf } = viewsIn(await collect(container.id, ASKING, OPTIONS));
      expect(rowOf('web')).toMatch(/^web +gone \d+ +init \d+ +STOPPED +running! for .+ +(not asked|no answer .+)$/);
      expect(of(container.id)).toEqual({
        words: expect.objectContaining({
          ...{
            '/proc': 'gone',
            shim: 'STOPPED',
            'config.v2.json': 'running',
            docker: expect.stringMatching(/^not? a/),
          },
        }),
        wrong: ['config.v2.json'],
      });
    }));
});

describe.skipIf(labUnavailable())('docker without its client', () => {
  const overSocket = async (folder: LabFolder, id: string, socket: string) => {
    const asking: Collector = {
      ...{ name: 'docker-api', phase: 'ask', deadlineMs: 8000 },
      collect: capture => dockerApi(capture, socket, [id], ''),
    };
    const others = ASKING.filter(({ name }) => name.startsWith('views'));
    const phases = [...others, asking].toSorted((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase));
    expect(socket.startsWith(folder.path)).toBe(true);
    return collect(id, phases, OPTIONS);
  };

  it('is asked over its socket, and answers for a container that is well', async () => {
    await using docker = await startDocker();
    const container = await docker.runContainer('web');
    const collected = await overSocket(docker.folder, container.id, docker.socket);
    const entry = (what: string) => collected.evidence.get(`runtime/docker-api-${what}.json`)?.body.toString() ?? '';
    expect(JSON.parse(entry('version'))).toMatchObject({ Os: 'linux' });
    expect(JSON.parse(entry('containers'))).toMatchObject([{ Id: container.id, State: 'running' }]);
    expect(JSON.parse(entry(`container-${container.id.slice(0, 12)}`))).toMatchObject({ Id: container.id });
    expect(viewsIn(collected).of(container.id)).toMatchObject({
      words: { '/proc': 'alive', 'config.v2.json': 'running', docker: 'running' },
      wrong: [],
    });
  });

  it('that is stopped does not answer there either', () =>
    during(dockerStopped(), async ({ folder, container, docker }) => {
      const collected = await overSocket(folder, container.id, docker.socket);
      expect(viewsIn(collected).of(container.id).words).toMatchObject({ docker: 'no answer', '/proc': 'gone' });
    }));
});

describe.skipIf(labUnavailable())('a containerd that is stopped', () => {
  it('does not answer, and its shims do', () =>
    during(containerdStopped(), async ({ pod, container }) => {
      const { of, document } = viewsIn(await collect(pod.id, ASKING, OPTIONS));
      expect(document.shims).toMatchObject([{ outcome: 'ok' }]);
      expect(of(container.id)).toMatchObject({
        words: { '/proc': 'alive', shim: 'RUNNING', 'CRI status file': 'running', CRI: 'no answer' },
        wrong: [],
      });
    }));
});
