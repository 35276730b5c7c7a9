import { describe, expect, it } from 'vitest';
import { crictl } from '../../src/collectors/crictl.ts';
import { docker } from '../../src/collectors/docker.ts';
import { shimAnswers } from '../../src/collectors/shim-answers.ts';
import { leftShims, leftViews } from '../../src/collectors/views/left-views.ts';
import { views, viewsBefore } from '../../src/collectors/views/views.ts';
import { parseViews } from '../../src/formats/views/document.ts';
import {
  broughtBy,
  CONTAINER_ID,
  captureOn,
  containerOf,
  DOCKERD,
  POD,
  ROOT,
  SANDBOX_ID,
  SHIM,
  textOf,
} from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

const SOCKET = 'unix:///run/containerd/s/4f';
const withSocket = { ...POD, shims: [{ ...SHIM, socket: SOCKET }] };
const inDocker = { ...POD, namespace: 'moby', runtime: 'docker' as const };

/** What was left of a container, as `source: word`. */
const saidOf = (capture: ReturnType<typeof captureOn>, id: string) =>
  (leftViews(capture).get(id) ?? []).map(({ source, says, word }) => `${source}: ${word} (${says})`);

describe('a node without crictl', () => {
  it('has CRI asked over its socket: the sandbox, its containers, and the status of each', async () => {
    const paper = new PaperHost();
    paper.cri = question =>
      question.method === 'ContainerStatus'
        ? { answer: { status: { ...STATUS, state: 'CONTAINER_EXITED', finishedAt: '1795952553569336228' } } }
        : { answer: { status: { ...SANDBOX_STATUS, state: 'SANDBOX_READY' } } };
    const capture = captureOn(paper.host, { sandbox: POD });
    const brought = await broughtBy(crictl, capture);
    expect(brought.get('runtime/crictl-version.txt')).toMatchObject({ outcome: 'absent' });
    expect(paper.questions).toEqual([
      { method: 'Version' },
      { method: 'ListPodSandbox', sandboxId: SANDBOX_ID },
      { method: 'ListContainers', sandboxId: SANDBOX_ID },
      { method: 'PodSandboxStatus', id: SANDBOX_ID },
      { method: 'ContainerStatus', id: CONTAINER_ID },
    ]);
    const calls = JSON.parse(textOf(brought, 'runtime/cri.json')) as readonly { readonly method: string }[];
    expect(calls.map(({ method }) => method)).toEqual(
      paper.questions.map(question => (question as { method: string }).method),
    );
    expect(saidOf(capture, SANDBOX_ID)).toEqual(['CRI: SANDBOX_READY (running)']);
    expect(saidOf(capture, CONTAINER_ID)).toEqual(['CRI: CONTAINER_EXITED (exited)']);
    expect(leftViews(capture).get(CONTAINER_ID)?.[0]?.since).toBe('2026-11-29T11:42:33.569Z');
  });

  it('and whose CRI does not answer has that as its answer', async () => {
    const paper = new PaperHost();
    paper.cri = () => ({ outcome: 'timeout', detail: 'no answer within 2000 ms', latencyMs: 2000 });
    const capture = captureOn(paper.host, { sandbox: POD });
    const brought = await broughtBy(crictl, capture);
    expect(brought.get('runtime/cri.json')).toMatchObject({ outcome: 'timeout', detail: 'no answer within 2000 ms' });
    expect(saidOf(capture, CONTAINER_ID)).toEqual(['CRI: no answer (unknown)']);
  });

  it('is not asked about containers that CRI has not made', async () => {
    const paper = new PaperHost();
    await broughtBy(crictl, captureOn(paper.host, { sandbox: { ...POD, namespace: 'default' } }));
    expect(paper.questions).toEqual([
      { method: 'Version' },
      { method: 'ListPodSandbox', sandboxId: null },
      { method: 'ListContainers', sandboxId: null },
    ]);
  });
});

describe('a node with crictl', () => {
  it('is asked by it alone, and its JSON tells what CRI says', async () => {
    const paper = new PaperHost();
    const inspected = (state: string) =>
      JSON.stringify({ status: { state, startedAt: '2026-11-29T11:42:33.569336228Z' } });
    paper.answer = argv => ({
      stdout: argv.includes('inspect')
        ? inspected('CONTAINER_RUNNING')
        : argv.includes('inspectp')
          ? inspected('SANDBOX_READY')
          : '',
    });
    const capture = captureOn(paper.host, { sandbox: POD });
    await broughtBy(crictl, capture);
    expect(paper.questions).toEqual([]);
    expect(saidOf(capture, SANDBOX_ID)).toEqual(['crictl: SANDBOX_READY (running)']);
    expect(saidOf(capture, CONTAINER_ID)).toEqual(['crictl: CONTAINER_RUNNING (running)']);
    expect(leftViews(capture).get(CONTAINER_ID)?.[0]).toMatchObject({ tookMs: 5, since: '2026-11-29T11:42:33.569Z' });
  });

  it.each([
    ['does not speak the API of this containerd', 'rpc error: code = Unimplemented desc = unknown service x', 5],
    ['finds nobody', 'rpc error: code = Unavailable desc = connection error: connect: connection refused', 0],
    ['gave up', 'rpc error: code = DeadlineExceeded desc = context deadline exceeded', 0],
  ])('that %s: CRI is asked over its socket only where that may bring more', async (_, stderr, questions) => {
    const paper = new PaperHost();
    paper.answer = () => ({ outcome: 'error', exitCode: 1, stderr: `level=fatal msg="${stderr}"\n` });
    await broughtBy(crictl, captureOn(paper.host, { sandbox: POD }));
    expect(paper.questions).toHaveLength(questions);
  });

  it('that hangs says nothing of the containers that are not asked about any more', async () => {
    const paper = new PaperHost();
    paper.answer = argv => (argv.includes('inspectp') ? { outcome: 'timeout' } : { stdout: '{}' });
    const capture = captureOn(paper.host, { sandbox: POD });
    await broughtBy(crictl, capture);
    expect(saidOf(capture, SANDBOX_ID)).toEqual(['crictl: no answer (unknown)']);
    expect(saidOf(capture, CONTAINER_ID)).toEqual(['crictl: not asked (unknown)']);
  });
});

describe('docker', () => {
  const INSPECTED = {
    State: { Status: 'running', Pid: 2503, StartedAt: '2026-11-29T11:00:00.5Z', FinishedAt: '0001-01-01T00:00:00Z' },
    Config: { Env: ['TOKEN=s3cret'] },
  };

  it('tells by its client, in an array', async () => {
    const paper = new PaperHost();
    paper.answer = argv => ({ stdout: argv.includes('inspect') ? JSON.stringify([INSPECTED]) : '' });
    const capture = captureOn(paper.host, { sandbox: inDocker, daemons: [DOCKERD] });
    await broughtBy(docker, capture);
    expect(saidOf(capture, CONTAINER_ID)).toEqual(['docker: running (running)']);
    expect(leftViews(capture).get(CONTAINER_ID)?.[0]).toMatchObject({ pid: 2503, since: '2026-11-29T11:00:00.500Z' });
    expect(paper.questions).toEqual([]);
  });

  it('tells over its socket where it has no client, without one value of an environment', async () => {
    const paper = new PaperHost();
    paper.http = path =>
      path.startsWith('/containers/a') ? { outcome: 'timeout' } : { body: Buffer.from(JSON.stringify(INSPECTED)) };
    const capture = captureOn(paper.host, { sandbox: inDocker, daemons: [DOCKERD] });
    const brought = await broughtBy(docker, capture);
    expect(paper.questions).toEqual([
      '/version',
      `/containers/json?all=1&filters=${encodeURIComponent(JSON.stringify({ id: [SANDBOX_ID, CONTAINER_ID] }))}`,
      `/containers/${SANDBOX_ID}/json`,
      `/containers/${CONTAINER_ID}/json`,
    ]);
    const path = `runtime/docker-api-container-${CONTAINER_ID.slice(0, 12)}.json`;
    expect(textOf(brought, path)).toContain('TOKEN');
    expect(textOf(brought, path)).not.toContain('s3cret');
    expect(saidOf(capture, CONTAINER_ID)).toEqual(['docker: running (running)']);
    expect(saidOf(capture, SANDBOX_ID)).toEqual(['docker: no answer (unknown)']);
  });

  it('on the network is not asked without its client', async () => {
    const paper = new PaperHost();
    const remote = { ...DOCKERD, address: 'tcp://10.0.0.1:2375' };
    await broughtBy(docker, captureOn(paper.host, { sandbox: inDocker, daemons: [remote] }));
    expect(paper.questions).toEqual([]);
  });
});

describe('what the shim says', () => {
  it('is asked of each for its own containers, and stands line by line', async () => {
    const paper = new PaperHost();
    const state = { pid: 2503, status: 'STOPPED', exitedAt: '2026-11-29T11:59:00.000Z' } as never;
    paper.shim = () => [
      { answer: { shimPid: SHIM.pid, taskPid: 1 } },
      { call: 'State', container: CONTAINER_ID, answer: state },
      {
        call: 'State',
        container: SANDBOX_ID,
        outcome: 'error',
        status: { code: 5, message: 'not created: not found' },
      },
    ];
    const capture = captureOn(paper.host, { sandbox: withSocket });
    const brought = await broughtBy(shimAnswers, capture);
    expect(paper.questions).toMatchObject([
      { socket: SOCKET, apis: ['v2', 'v3'], containers: [SANDBOX_ID, CONTAINER_ID] },
    ]);
    const lines = textOf(brought, 'runtime/shim.json').trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    expect(JSON.parse(lines[2]?.replace(/,$/, '') ?? '')).toMatchObject({
      ...{ shim: SHIM.pid, call: 'State', container: CONTAINER_ID, latencyMs: 2, outcome: 'ok' },
      answer: { status: 'STOPPED' },
    });
    expect(saidOf(capture, CONTAINER_ID)).toEqual(['shim: STOPPED (exited)']);
    expect(saidOf(capture, SANDBOX_ID)).toEqual(['shim: not found (absent)']);
    expect(leftShims(capture)).toMatchObject([{ pid: SHIM.pid, outcome: 'ok', answeredBy: SHIM.pid }]);
  });

  it('is not to be had where its socket was not found', async () => {
    const brought = await broughtBy(shimAnswers, captureOn(new PaperHost().host, { sandbox: POD }));
    expect(brought.get('runtime/shim.json')).toMatchObject({
      outcome: 'gone',
      detail: 'no socket of the shim was found',
    });
  });
});

describe('runtime/views.json', () => {
  const STATUS_FILE = `${ROOT}/io.containerd.grpc.v1.cri/containers/${CONTAINER_ID}/status`;
  const runc = (id: string, pid: number) =>
    `{"id":"${id}","init_process_pid":${pid},"init_process_start":${pid}0,"created":"2026-11-29T11:42:33Z","config":{}}`;

  it('has /proc, runc and the status file from before the questions and after them', async () => {
    const paper = new PaperHost({
      [`/run/containerd/runc/k8s.io/${SANDBOX_ID}/state.json`]: runc(SANDBOX_ID, 2454),
      [STATUS_FILE]: JSON.stringify({
        Version: 'v1',
        Pid: 2503,
        CreatedAt: 1,
        StartedAt: 5,
        FinishedAt: 0,
        ExitCode: 0,
      }),
      '/proc/2454/status': 'Name:\tpause\nState:\tS (sleeping)\nPPid:\t2623\n',
    });
    paper.processes.set(2454, 'pause');
    const sandbox = {
      ...POD,
      containers: [containerOf(SANDBOX_ID, 'sandbox'), containerOf(CONTAINER_ID, 'container')],
    };
    const capture = captureOn(paper.host, { sandbox });
    expect((await broughtBy(viewsBefore, capture)).size).toBe(0);
    const document = parseViews(textOf(await broughtBy(views, capture), 'runtime/views.json'));
    const of = (id: string) =>
      document?.containers.find(container => container.id === id)?.views.map(({ source, word }) => `${source} ${word}`);
    const thrice = (words: readonly string[]) => [...words, ...words, ...words].toSorted();
    // What disagrees is read once more, when it cannot be late any longer.
    expect(of(SANDBOX_ID)?.toSorted()).toEqual(thrice(['runc init 2454', '/proc alive']));
    expect(of(CONTAINER_ID)?.toSorted()).toEqual(thrice(['runc no record', 'CRI status file running', '/proc gone']));
  });

  it.each([
    ['crun keeps its own record', [SHIM], { [`/run/containerd/runc/k8s.io/${CONTAINER_ID}/status`]: '{}' }],
    ['the shim is that of gVisor', [{ ...SHIM, exe: '/usr/bin/containerd-shim-runsc-v1' }], {}],
  ])('says nothing of runc where %s', async (_, shims, files) => {
    const capture = captureOn(new PaperHost(files).host, { sandbox: { ...POD, shims } });
    await broughtBy(viewsBefore, capture);
    expect(saidOf(capture, CONTAINER_ID).filter(words => words.startsWith('runc'))).toEqual([]);
  });

  it('says which file does not answer', async () => {
    const paper = new PaperHost().put(STATUS_FILE, { outcome: 'timeout', detail: 'no answer for 500 ms' });
    const capture = captureOn(paper.host, { sandbox: POD });
    await broughtBy(viewsBefore, capture);
    expect(leftViews(capture).get(CONTAINER_ID)).toContainEqual(
      expect.objectContaining({
        source: 'CRI status file',
        says: 'unknown',
        word: 'no answer',
        detail: 'no answer for 500 ms',
      }),
    );
  });
});

const STATUS = {
  ...{ id: CONTAINER_ID, metadata: { name: 'app', attempt: 0 }, createdAt: '1', startedAt: '5', finishedAt: '0' },
  ...{ exitCode: 0, reason: '', message: '' },
};
const SANDBOX_STATUS = {
  ...{ id: SANDBOX_ID, createdAt: '1' },
  metadata: { name: 'web-0', uid: 'u', namespace: 'shop', attempt: 0 },
};
