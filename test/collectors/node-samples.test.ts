import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cgroups } from '../../src/collectors/cgroups.ts';
import { nodeSamples } from '../../src/collectors/node-samples.ts';
import { createHost } from '../../src/host/linux.ts';
import { broughtBy, captureOn, POD, textOf } from './capture-on.ts';
import { UNIFIED } from './cgroup-mounts.ts';
import { PaperHost } from './paper-host.ts';

interface Sample {
  readonly sample: number;
  readonly time: string;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly files: Readonly<Record<string, string>>;
  readonly notRead: Readonly<Record<string, string>>;
}

const samplesIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Sample);
const PATH = 'node/samples.jsonl';

describe('samples of the node', () => {
  it('are one line each, of counters that grow between them', async () => {
    const host = createHost();
    try {
      const pause = async function* () {
        yield 1;
        await sleep(60);
        yield 2;
      };
      const brought = await broughtBy(nodeSamples, captureOn(host, { options: { samples: 2 }, rounds: pause }));
      const samples = samplesIn(textOf(brought, PATH));
      expect(samples.map(({ sample }) => sample)).toEqual([1, 2]);
      const [first, second] = samples as [Sample, Sample];
      expect(second.offsetMs).toBeGreaterThan(first.offsetMs + first.durationMs);
      expect(Date.parse(second.time)).toBeGreaterThan(Date.parse(first.time));
      expect(first.files['/proc/diskstats']).toMatch(/^ +\d+ +\d+ \S+ /);
      expect(first.files['/proc/meminfo']).toMatch(/^MemTotal:/);
      expect(brought.get(PATH)).toMatchObject({ outcome: 'ok' });
    } finally {
      await host.close();
    }
  });

  it('have what waits for each disk, of those that have something waiting', async () => {
    const bdi = (name: string) => `/sys/kernel/debug/bdi/${name}/stats`;
    const stats = (kib: number) => `BdiWriteback: 0 kB\nBdiReclaimable: ${kib} kB\n`;
    const paper = new PaperHost({
      [bdi('254:0')]: stats(4),
      [bdi('7:0')]: stats(0),
      [bdi('btrfs-1')]: stats(8),
      '/proc/meminfo': 'MemTotal: 99 kB\n',
    });
    const [sample] = samplesIn(textOf(await broughtBy(nodeSamples, captureOn(paper.host)), PATH));
    expect(Object.keys(sample?.files ?? {})).toEqual(['/proc/meminfo', bdi('254:0')]);
  });

  it('hold what the cgroups of all pods did, the others in the first and the last, and look for them no second time', async () => {
    const pod = '/sys/fs/cgroup/kubepods/pod11111111-2222-3333-4444-555555555555';
    const paper = new PaperHost({
      '/proc/self/mountinfo': UNIFIED,
      [`${pod}/io.stat`]: '254:0 wbytes=4\n',
      [`${pod}/io.max`]: '254:0 wbps=1\n',
      '/proc/2503/cgroup': '0::/kubepods/own/c\n',
      '/sys/fs/cgroup/kubepods/own/c/pids.current': '3\n',
    });
    const capture = captureOn(paper.host, { sandbox: POD });
    await broughtBy(cgroups, capture);
    const samples = samplesIn(textOf(await broughtBy(nodeSamples, capture), PATH));
    expect(samples.map(({ files }) => files[`${pod}/io.stat`])).toEqual([
      '254:0 wbytes=4\n',
      undefined,
      '254:0 wbytes=4\n',
    ]);
    expect(samples.map(({ files }) => files['/sys/fs/cgroup/kubepods/own/c/pids.current'])).toEqual([
      '3\n',
      '3\n',
      '3\n',
    ]);
    // A limit does not change: it is not sampled.
    expect(samples.flatMap(({ files }) => Object.keys(files))).not.toContain(`${pod}/io.max`);
    expect(paper.asked.filter(({ path }) => path === '/proc/self/mountinfo')).toHaveLength(1);
  });

  it('say what could not be read', async () => {
    const paper = new PaperHost({
      '/proc/meminfo': { outcome: 'timeout', detail: 'no answer' },
      '/proc/loadavg': '1 1 1',
    });
    const brought = await broughtBy(nodeSamples, captureOn(paper.host, { options: { samples: 1 } }));
    const [sample] = samplesIn(textOf(brought, PATH));
    expect(sample).toMatchObject({
      files: { '/proc/loadavg': '1 1 1' },
      notRead: { '/proc/meminfo': 'timeout, no answer' },
    });
  });

  it('that were made are brought when the time was over before the last', async () => {
    const rounds = async function* () {
      yield 1;
      yield 2;
    };
    const brought = await broughtBy(nodeSamples, captureOn(new PaperHost().host, { options: { samples: 5 }, rounds }));
    expect(brought.get(PATH)).toMatchObject({ outcome: 'truncated', detail: '2 of 5 samples' });
    expect(samplesIn(textOf(brought, PATH))).toHaveLength(2);
  });
});
