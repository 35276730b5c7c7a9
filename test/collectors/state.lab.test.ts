import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/bundle/evidence.ts';
import { leavesGap } from '../../src/bundle/manifest.ts';
import { bundleDirectories } from '../../src/collectors/bundle-directories.ts';
import type { Collector } from '../../src/collectors/collector.ts';
import { collectors } from '../../src/collectors/index.ts';
import { createHost } from '../../src/host/linux.ts';
import { startContainerd } from '../lab/containerd.ts';
import { during } from '../lab/during.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { dockerStopped } from '../lab/stalls/docker-stopped.ts';
import { filesystemFrozen } from '../lab/stalls/filesystem-frozen.ts';
import { fuseStopped } from '../lab/stalls/fuse-stopped.ts';
import { loggingToJournald } from '../lab/stalls/journald-stopped.ts';
import { overlayUmountSync } from '../lab/stalls/overlay-umount-sync.ts';
import { broughtBy, captureOn, containerOf, POD, SANDBOX_ID } from './capture-on.ts';
import { type Collected, collect } from './collect.ts';

/** Everything but threads, signal and dump, which have tests of their own. */
const THREADS = /^(first-look|shim-|container-threads|goroutine-|sweep$|ps$)/;
const STATE: readonly Collector[] = collectors.filter(({ name }) => !THREADS.test(name));

const named = (...names: readonly string[]): readonly Collector[] =>
  names.map(name => collectors.find(collector => collector.name === name) as Collector);

function text({ evidence }: Collected, path: string): string {
  const found = evidence.get(path);
  if (found === undefined) throw new Error(`no ${path} among ${[...evidence.keys()].join(', ')}`);
  return found.body.toString('utf8');
}

const lacking = ({ evidence, notGot }: Collected): readonly unknown[] => [
  ...[...evidence.values()]
    .filter(({ outcome }) => leavesGap(outcome))
    .map(({ path, outcome, detail }) => [path, outcome, detail]),
  ...notGot,
];

interface Sample {
  readonly files: Readonly<Record<string, string>>;
}

const samples = (collected: Collected) =>
  text(collected, 'node/samples.jsonl')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Sample);

describe.skipIf(labUnavailable())('a pod that is well', () => {
  it('is captured whole, without one value of its environment', async () => {
    await using containerd = await startContainerd();
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const container = await pod.addContainer({ name: 'app', env: { TOKEN: 's3cret-of-the-pod' } });
    const collected = await collect(pod.id, STATE);

    expect(lacking(collected)).toEqual([]);
    const leaking = [...collected.evidence.values()].filter(({ body }) => body.includes('s3cret-of-the-pod'));
    expect(leaking.map(({ path }) => path)).toEqual([]);

    const of = `containers/${container.id}`;
    expect(JSON.parse(text(collected, `${of}/bundle/config.json`)).process.env).toContain('TOKEN');
    expect(text(collected, `${of}/bundle/init.pid`)).toBe(String(container.initPid));
    expect(JSON.parse(text(collected, `${of}/runc/state.json`)).init_process_pid).toBe(container.initPid);
    expect(JSON.parse(text(collected, `${of}/status.json`))).toMatchObject({ Pid: container.initPid, FinishedAt: 0 });
    expect(text(collected, `${of}/cgroup.txt`)).toContain(`pod${pod.uid}/${container.id}/`);
    expect(text(collected, 'node/cgroups.txt')).toMatch(
      new RegExp(`/pod${pod.uid}/(memory\\.usage_in_bytes|memory\\.current) <==`),
    );
    expect(text(collected, 'node/disks.txt')).toContain(`writable layer of ${container.id} (app): ${containerd.root}/`);
    expect(text(collected, 'runtime/ctr-containers-k8s.io.txt')).toContain(container.id);
    expect(text(collected, 'logs/containerd.log')).toContain(
      `StartContainer for \\"${container.id}\\" returns successfully`,
    );
    expect(text(collected, 'node/observer.txt')).toContain(`shim ${pod.id}`);
    expect(
      Object.keys(samples(collected)[1]?.files ?? {}).some(path => path.includes(`/${container.id}/pids.current`)),
    ).toBe(true);
  });
});

describe.skipIf(labUnavailable())('a container that dies with much unwritten on a slow disk', () => {
  it('leaves a status that says running, no record of runc, a loop device with I/O in flight, and no gap', () =>
    during(overlayUmountSync(), async ({ pod, container, disk }) => {
      const collected = await collect(pod.id, STATE);
      expect(lacking(collected)).toEqual([]);

      const of = `containers/${container.id}`;
      expect(JSON.parse(text(collected, `${of}/status.json`))).toMatchObject({ FinishedAt: 0 });
      expect(collected.evidence.get(`${of}/runc.txt`)).toMatchObject({ outcome: 'absent' });

      // The overlay is in no mountinfo any more: the way to the disk leads over containerd's root.
      expect(text(collected, 'node/disks.txt')).toMatch(
        new RegExp(
          `^containerd's root .*\\n  mount: .* ${disk.point} .*\\n  device .* is loop\\d+\\n    loop\\d+ is the file .*\\n      mount: .* fuse`,
          'm',
        ),
      );
      const loop = /device \S+ is (loop\d+)/.exec(text(collected, 'node/disks.txt'))?.[1];
      for (const { files } of samples(collected)) {
        const inFlight = Number(new RegExp(` ${loop} (?:\\d+ ){8}(\\d+)`).exec(files['/proc/diskstats'] ?? '')?.[1]);
        expect(inFlight).toBeGreaterThan(0);
      }
    }));
});

describe.skipIf(labUnavailable())('a filesystem that is frozen below containerd', () => {
  it('shows the status that containerd could not replace, and nothing hangs', () =>
    during(filesystemFrozen(), async ({ pod, container, initPid }) => {
      const collected = await collect(
        pod.id,
        named('bundle-directories', 'runc-state', 'cri-status', 'cri-store', 'ctr'),
        {
          timeoutMs: 20_000,
        },
      );
      // runc and the bundle are gone with the container; what is left of it is the status that containerd cannot replace.
      const statuses = text(collected, 'node/cri-store.txt').split('==> ');
      const own = statuses.find(each => each.includes(`/${container.id}/status <==\n`)) ?? '';
      expect(JSON.parse(own.slice(own.indexOf('\n')))).toMatchObject({ Pid: initPid, FinishedAt: 0 });
      expect(text(collected, 'node/cri-store.stat')).toMatch(
        new RegExp(`^file .* mtime=\\S+ .* ${container.id}/status$`, 'm'),
      );
      expect(collected.ms).toBeLessThan(20_000);
    }));
});

describe.skipIf(labUnavailable())('a bundle directory on a filesystem that does not answer', () => {
  it('is a gap of its own; the other containers are captured, and the collector ends in time', () =>
    during(fuseStopped({ 'config.json': '{}' }), async ({ fuse }) => {
      const host = createHost();
      try {
        const there = POD.containers.map(({ id, kind }) =>
          containerOf(id, kind, { bundle: kind === 'sandbox' ? fuse.point : '/proc/self/task' }),
        );
        const startMs = performance.now();
        const brought = await broughtBy(
          bundleDirectories,
          captureOn(host, { sandbox: { ...POD, containers: there }, remainingMs: 4000 }),
        );
        expect(performance.now() - startMs).toBeLessThan(5000);
        expect(brought.get(`containers/${SANDBOX_ID}/bundle.txt`)).toMatchObject({ outcome: 'timeout' });
        expect([...brought.values()].filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(0);
        expect(host.stuckProbes.map(({ item }) => item)).toContain(fuse.point);
      } finally {
        await host.close();
      }
    }));
});

describe.skipIf(labUnavailable())('a containerd that logs to the journal', () => {
  it('is read from there in order, the newest part, with the lines of its shims', () =>
    during(loggingToJournald(), async ({ pod, container }) => {
      const collected = await collect(pod.id, named('containerd-log'));
      expect(lacking(collected)).toEqual([]);
      const log = collected.evidence.get('logs/containerd.log') as Evidence;
      expect(log.source).toMatch(/^journalctl .*--since=@\d+/);
      const lines = log.body.toString().trimEnd().split('\n');
      const times = lines.flatMap(line => /^(\S+T\S+) /.exec(line)?.[1] ?? []);
      expect(times.length).toBeGreaterThan(10);
      expect(times).toEqual(times.toSorted());
      expect(lines[0]).toContain('starting containerd');
      expect(log.body.toString()).toContain(`StartContainer for \\"${container.id}\\"`);
    }));
});

describe.skipIf(labUnavailable())('a dockerd that is stopped while a container of it dies', () => {
  it('has a record that still says running, and an answer that does not come, for which nobody asks twice', () =>
    during(dockerStopped(), async ({ docker, container }) => {
      const record = readFileSync(container.configFile, 'utf8');
      const collected = await collect(container.id, named('docker-state', 'docker', 'docker-log', 'containerd-log'), {
        timeoutMs: 25_000,
      });
      const of = `containers/${container.id}`;
      expect(JSON.parse(text(collected, `${of}/config.v2.json`)).State).toMatchObject({
        Running: true,
        Pid: container.initPid,
      });
      expect(JSON.parse(text(collected, `${of}/config.v2.json`)).ID).toBe(JSON.parse(record).ID);
      expect(text(collected, `${of}/config.v2.stat`)).toContain(basename(container.configFile));
      expect(collected.evidence.get('runtime/docker-version.txt')).toMatchObject({ outcome: 'timeout' });
      expect(collected.evidence.get('runtime/docker-ps.txt')?.detail).toMatch(/^not asked: /);
      expect(text(collected, 'runtime/docker-commands.jsonl').trim().split('\n')).toHaveLength(1);
      // Its containerd writes into the same log, which is taken once.
      const logs = ['logs/docker.log', 'logs/containerd.log'].map(path => collected.evidence.get(path) as Evidence);
      expect(logs.map(({ outcome }) => outcome).toSorted()).toEqual(['absent', 'ok']);
      expect(docker.pid).toBeGreaterThan(0);
    }));
});
