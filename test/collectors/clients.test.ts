import { describe, expect, it } from 'vitest';
import { crictl } from '../../src/collectors/crictl.ts';
import { ctr } from '../../src/collectors/ctr.ts';
import { docker } from '../../src/collectors/docker.ts';
import {
  broughtBy,
  CONTAINER_ID,
  CONTAINERD,
  captureOn,
  DOCKERD,
  POD,
  SANDBOX_ID,
  SHIM,
  textOf,
} from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

const ADDRESS = '/run/k3s/containerd/containerd.sock';
const k3s = { ...POD, shims: [{ ...SHIM, address: ADDRESS }] };
const inDocker = { ...POD, namespace: 'moby', runtime: 'docker' as const };

function installed(answer: PaperHost['answer'] = () => ({ stdout: '{}' })): PaperHost {
  const paper = new PaperHost();
  paper.answer = answer;
  return paper;
}

/** Each command without what says whom it is put to. */
async function asked(collector: typeof ctr, circumstances: Parameters<typeof captureOn>[1], globals: number) {
  const paper = installed();
  await broughtBy(collector, captureOn(paper.host, circumstances));
  return { commands: paper.commands, words: paper.commands.map(argv => argv.slice(globals).join(' ')) };
}

describe('crictl', () => {
  it("is asked at the socket of the shim's own containerd", async () => {
    const { commands, words } = await asked(crictl, { sandbox: k3s }, 5);
    expect(new Set(commands.map(argv => argv.slice(0, 5).join(' ')))).toEqual(
      new Set([`crictl --runtime-endpoint unix://${ADDRESS} --timeout 2s`]),
    );
    expect(words).toEqual([
      'version',
      'pods --no-trunc',
      'ps --all --no-trunc',
      `inspectp --quiet ${SANDBOX_ID}`,
      `inspect --quiet ${CONTAINER_ID}`,
    ]);
  });

  it('is never asked for verbose information, which calls State and holds environment values', async () => {
    const { commands } = await asked(crictl, { sandbox: POD }, 0);
    const inspections = commands.filter(argv => argv.some(word => word.startsWith('inspect')));
    expect(inspections).toHaveLength(2);
    expect(inspections.every(argv => argv.includes('--quiet'))).toBe(true);
  });

  it("is not asked about docker's containers, which CRI does not know", async () => {
    expect((await asked(crictl, { sandbox: inDocker }, 0)).commands).toEqual([]);
  });

  it('is asked once per containerd for a node', async () => {
    const daemons = [CONTAINERD, { ...CONTAINERD, address: ADDRESS }, DOCKERD];
    const { commands } = await asked(crictl, { daemons }, 5);
    expect(commands.filter(argv => argv.includes('version')).map(argv => argv[2])).toEqual([
      `unix://${CONTAINERD.address}`,
      `unix://${ADDRESS}`,
    ]);
  });

  it('is also looked for where rke2, k3s and microk8s keep theirs', async () => {
    const paper = installed(argv => (argv[0] === 'k3s' ? { stdout: 'x' } : { outcome: 'absent' }));
    const brought = await broughtBy(crictl, captureOn(paper.host, { sandbox: k3s }));
    expect(brought.get('runtime/crictl-ps.txt')).toMatchObject({ outcome: 'ok' });
    expect(brought.get('runtime/crictl-ps.txt')?.source).toMatch(/^k3s crictl --runtime-endpoint /);
    // Looked for once, not for every question.
    expect(paper.commands.filter(([program]) => program === 'crictl')).toHaveLength(1);
  });

  it('reaches a containerd with a mount namespace of its own', async () => {
    const sandbox = { ...POD, shims: [{ ...SHIM, state: '/proc/812/root/run/containerd' }] };
    const { commands } = await asked(crictl, { sandbox }, 0);
    expect(commands[0]?.[2]).toBe('unix:///proc/812/root/run/containerd/containerd.sock');
  });
});

describe('ctr', () => {
  it('is asked what its metadata store knows', async () => {
    const { words } = await asked(ctr, { sandbox: POD }, 7);
    expect(words).toEqual([
      'namespaces ls',
      '--namespace k8s.io containers ls',
      `--namespace k8s.io containers info ${SANDBOX_ID}`,
      `--namespace k8s.io containers info ${CONTAINER_ID}`,
    ]);
  });

  it.each([
    ['a pod', { sandbox: POD }],
    ['a pod of docker', { sandbox: inDocker }],
    ['a node', { daemons: [CONTAINERD, { ...CONTAINERD, address: ADDRESS }] }],
  ])('is never asked about tasks of %s: each would cost a stuck shim a goroutine', async (_, circumstances) => {
    const { commands } = await asked(ctr, circumstances, 0);
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.flat().filter(word => /^(t|task|tasks|shim|exec)$/.test(word))).toEqual([]);
  });

  it("loses the container's spec", async () => {
    const spec = JSON.stringify({ ID: 'x', Spec: { process: { env: ['A=s3cret'] } } });
    const paper = installed(argv => ({ stdout: argv.includes('info') ? spec : 'x' }));
    const brought = await broughtBy(ctr, captureOn(paper.host, { sandbox: POD }));
    expect(JSON.parse(textOf(brought, `runtime/ctr-info-${CONTAINER_ID.slice(0, 12)}.txt`))).toMatchObject({ ID: 'x' });
    expect([...brought.values()].map(({ body }) => body.toString()).join('')).not.toContain('s3cret');
  });
});

describe('what is asked of containerd', () => {
  it('is never its version through ctr, for which it writes a file below its root', async () => {
    const { commands } = await asked(ctr, { sandbox: POD }, 0);
    expect(commands.flat()).not.toContain('version');
  });
});

describe('docker', () => {
  it('is asked at its own socket about the containers of the target, whose environment values are lost', async () => {
    const paper = installed(argv => ({ stdout: argv.includes('inspect') ? '[{"Config":{"Env":["A=s3cret"]}}]' : 'x' }));
    const brought = await broughtBy(
      docker,
      captureOn(paper.host, { sandbox: inDocker, daemons: [CONTAINERD, DOCKERD] }),
    );
    expect(paper.commands.map(argv => argv.join(' '))).toEqual([
      'docker --host unix:///var/run/docker.sock version',
      'docker --host unix:///var/run/docker.sock ps --all --no-trunc',
      `docker --host unix:///var/run/docker.sock inspect ${SANDBOX_ID}`,
      `docker --host unix:///var/run/docker.sock inspect ${CONTAINER_ID}`,
    ]);
    expect(JSON.parse(textOf(brought, `runtime/docker-inspect-${CONTAINER_ID.slice(0, 12)}.txt`))).toEqual([
      { Config: { Env: ['A'] } },
    ]);
  });

  it.each([
    ['unix:///x/docker.sock', 'unix:///x/docker.sock'],
    ['/x/docker.sock', 'unix:///x/docker.sock'],
    ['tcp://127.0.0.1:2375', 'tcp://127.0.0.1:2375'],
    [null, 'unix:///var/run/docker.sock'],
  ])('with the address %s is asked at %s', async (address, host) => {
    const { commands } = await asked(docker, { daemons: [{ ...DOCKERD, address }] }, 0);
    expect(commands[0]?.slice(0, 3)).toEqual(['docker', '--host', host]);
  });

  it('that started the containerd of the target is asked, of several', async () => {
    const own = { ...DOCKERD, address: 'unix:///own.sock', state: '/run/own' };
    const shims = [{ ...SHIM, state: '/run/own/containerd/daemon' }];
    const { commands } = await asked(docker, { sandbox: { ...inDocker, shims }, daemons: [DOCKERD, own] }, 0);
    expect(new Set(commands.map(argv => argv[2]))).toEqual(new Set(['unix:///own.sock']));
  });

  it.each([
    ['on a node without dockerd', { sandbox: inDocker, daemons: [] }],
    ['about a pod of containerd, whose neighbour dockerd may be', { sandbox: POD, daemons: [CONTAINERD, DOCKERD] }],
  ])('is not started %s', async (_, circumstances) => {
    const paper = installed();
    const brought = await broughtBy(docker, captureOn(paper.host, circumstances));
    expect(brought.get('runtime/docker-version.txt')).toMatchObject({ outcome: 'absent' });
    expect(paper.commands).toEqual([]);
  });
});
