import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectors } from '../../src/collectors/index.ts';
import { parseGoroutines } from '../../src/formats/goroutines/parse-goroutines.ts';
import type { RuntimeDaemon } from '../../src/sandbox/types.ts';
import { startContainerd } from '../lab/containerd.ts';
import { startDocker } from '../lab/docker.ts';
import { containerdOf, VERSIONS } from '../lab/dumps/versions.ts';
import { during } from '../lab/during.ts';
import { type LabFolder, openFolder } from '../lab/folder.ts';
import { alive } from '../lab/proc.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { containerdStopped } from '../lab/stalls/containerd-stopped.ts';
import { logSinkFull } from '../lab/stalls/log-sink-full.ts';
import { until } from '../lab/wait.ts';
import { type Collected, collect } from './collect.ts';

const DUMPS = collectors.filter(({ name }) => name === 'daemon-dumps');
const OPTIONS = { daemons: true, samples: 2, intervalMs: 300 };

const entry = ({ evidence }: Collected, path: string) => {
  const found = evidence.get(path);
  if (found === undefined) throw new Error(`no ${path} among ${[...evidence.keys()].join(', ')}`);
  return { ...found, text: found.body.toString(), goroutines: parseGoroutines(found.body.toString()).goroutines };
};
const words = ({ signals }: Collected) => signals.map(({ to, outcome, dump }) => `${to}: ${outcome}, ${dump}`);

const stacksOf = (containerdPid: number) => join(tmpdir(), `containerd.${containerdPid}.stacks.log`);

/** containerd's file stays where it wrote it; here it goes with the lab. */
function leavesFile(folder: LabFolder, containerdPid: number): void {
  folder.note({ kind: 'path', path: stacksOf(containerdPid) });
}

describe.skipIf(labUnavailable())('with --daemons', () => {
  it.for(VERSIONS)('containerd $version is asked twice for its goroutines, and goes on', async (version, { skip }) => {
    const binaries = await containerdOf(version);
    if ('reason' in binaries) return skip(binaries.reason);
    await using containerd = await startContainerd(binaries);
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    leavesFile(containerd.folder, containerd.pid);
    const dumps = () => containerd.log().match(/=== BEGIN goroutine stack dump ===/g)?.length ?? 0;
    const clients: Socket[] = [];
    const [collected] = await Promise.all([
      collect(pod.id, DUMPS, { ...OPTIONS, intervalMs: 1500 }),
      // In between it gets more goroutines: the second dump is not the first one, read again.
      until('the first dump', 20_000, () => dumps() === 1).then(() => {
        for (let count = 0; count < 20; count += 1) clients.push(connect(containerd.socket));
      }),
    ]);
    for (const client of clients) client.destroy();
    const [first, second] = [1, 2].map(round => entry(collected, `daemons/containerd-${containerd.pid}-${round}.txt`));
    for (const dump of [first, second]) {
      expect(dump?.outcome).toBe('ok');
      expect(dump?.source).toBe(`/proc/${containerd.pid}/root${stacksOf(containerd.pid)}`);
      expect(dump?.goroutines.length).toBeGreaterThan(15);
      expect(dump?.text).toContain('github.com/containerd/containerd');
    }
    expect(second?.at?.offsetMs).toBeGreaterThan((first?.at?.offsetMs ?? 0) + 1400);
    expect(second?.goroutines.length).toBeGreaterThanOrEqual((first?.goroutines.length ?? 0) + 20);
    expect(words(collected)).toEqual(Array.from({ length: 2 }, () => 'containerd: sent, complete'));
    expect(dumps()).toBe(2);
    expect((await containerd.cri.call('Version', {}, 5000)).runtime_name).toBe('containerd');
  });

  it('the dump is found in a temporary directory of its own, which nobody else sees', async () => {
    await using folder = await openFolder();
    const tmp = join(folder.path, 'private');
    mkdirSync(tmp);
    const script = `mount -t tmpfs tmpfs ${tmp} && exec env TMPDIR=${tmp} "$@"`;
    await using containerd = await startContainerd({
      folder,
      prefix: ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh'],
    });
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const collected = await collect(pod.id, DUMPS, { ...OPTIONS, samples: 1 });
    const dump = entry(collected, `daemons/containerd-${containerd.pid}-1.txt`);
    expect(dump).toMatchObject({ outcome: 'ok', source: expect.stringContaining(`/root${tmp}/containerd.`) });
    expect(dump.goroutines.length).toBeGreaterThan(15);
    expect(readdirSync(tmp)).toEqual([]);
    expect(collected.evidence.size).toBe(1);
  });

  it('dockerd and its containerd are both asked', () =>
    during(startDocker(), async docker => {
      const container = await docker.runContainer('web');
      leavesFile(docker.folder, docker.containerdPid);
      const collected = await collect(container.id, DUMPS, { ...OPTIONS, samples: 1 });
      const dump = entry(collected, `daemons/dockerd-${docker.pid}-1.txt`);
      expect(dump).toMatchObject({ outcome: 'ok', source: expect.stringMatching(/\/exec\/goroutine-stacks-.+\.log$/) });
      expect(dump.text).toContain('github.com/docker/docker');
      expect(entry(collected, `daemons/containerd-${docker.containerdPid}-1.txt`).outcome).toBe('ok');
      expect(words(collected).toSorted()).toEqual(['containerd: sent, complete', 'dockerd: sent, complete']);
      expect(await docker.docker(['ps', '--quiet', '--no-trunc'])).toContain(container.id);
    }));

  it('a containerd whose log nobody reads is not signalled: it would block in the log for ever', () =>
    during(logSinkFull(), async ({ pod, containerd }) => {
      const collected = await collect(pod.id, DUMPS, OPTIONS);
      expect(entry(collected, `daemons/containerd-${containerd.pid}-1.txt`)).toMatchObject({
        outcome: 'error',
        detail: expect.stringMatching(/^not sent \(guard standard error drained: /),
      });
      expect(existsSync(stacksOf(containerd.pid))).toBe(false);
    }));

  it('a stopped containerd is not signalled', () =>
    during(containerdStopped(), async ({ pod, containerd }) => {
      const collected = await collect(pod.id, DUMPS, { ...OPTIONS, samples: 1 });
      expect(words(collected)).toEqual([
        expect.stringMatching(/not sent \(guard not stopped or frozen: .*\), not sent/),
      ]);
      expect(alive(containerd.pid)).toBe(true);
    }));

  it('nothing is signalled with --no-signal, and no daemon without --daemons', async () => {
    await using containerd = await startContainerd();
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const kept = await collect(pod.id, DUMPS, { ...OPTIONS, samples: 1, signal: false });
    expect(entry(kept, `daemons/containerd-${containerd.pid}-1.txt`)).toMatchObject({ outcome: 'absent' });
    const unasked = await collect(pod.id, DUMPS, { ...OPTIONS, daemons: false });
    expect([unasked.evidence.size, unasked.signals]).toEqual([0, []]);
    expect(containerd.log()).not.toContain('goroutine stack dump');
  });

  it('a program that is no daemon of Go, whatever it is called, is not signalled', async () => {
    await using containerd = await startContainerd();
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const app = await pod.addContainer({ name: 'app' });
    const impostor = (daemon: RuntimeDaemon): RuntimeDaemon => ({ ...daemon, pid: app.initPid });
    const collected = await collect(pod.id, DUMPS, {
      ...OPTIONS,
      samples: 1,
      daemonsFound: daemons => daemons.map(impostor),
    });
    const [{ guards = [], outcome } = {}] = collected.signals;
    expect(outcome).toMatch(/^not sent \(guard same daemon: /);
    const failed = guards.filter(({ passed }) => !passed).map(({ guard }) => guard);
    expect(failed).toEqual(expect.arrayContaining(['same daemon', 'Go program', 'handles SIGUSR1']));
    expect(alive(app.initPid)).toBe(true);
  });
});
