import { describe, expect, it } from 'vitest';
import type { ContainerFacts } from '../../../src/diagnosis/facts.ts';
import { CONTAINER_ID, STARTED_AT } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { factsOfMade, type MadeBundle } from '../made-bundle.ts';

const HERE = `containers/${CONTAINER_ID}`;

function container(bundle: Partial<MadeBundle> = {}): ContainerFacts {
  const [found] = factsOfMade({ entries: {}, ...bundle }).containers ?? [];
  if (found === undefined) throw new Error('no container');
  return found;
}

const alive =
  '# process 2700 sleep\n===== 2700 sleep S hrtimer_nanosleep blocked for 9.0 =====\n230 0x0 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n';
const status = (finishedAt = 0) =>
  JSON.stringify({
    Version: 'v1',
    Pid: 2700,
    CreatedAt: 1,
    StartedAt: 1_795_951_000_000_000_000,
    FinishedAt: finishedAt,
    ExitCode: 0,
  });

describe('the init of a container', () => {
  it('is alive while every look has it', () => {
    expect(container({ entries: { [`${HERE}/threads-1.txt`]: alive } })).toMatchObject({ init: 'alive' });
  });

  it('is a zombie that nobody has reaped', () => {
    expect(container({ entries: { [`${HERE}/threads-1.txt`]: alive.replace(' S ', ' Z ') } }).init).toBe('zombie');
  });

  it('is gone when the first look did not find it', () => {
    const notGot = [
      { what: 'x', path: `${HERE}/threads-1.txt`, outcome: 'absent', detail: 'its init 2700 is not there any more' },
    ];
    const found = container({ notGot });
    expect(found.init).toBe('gone');
    expect(found.initCite).toMatchObject({
      entry: 'manifest.json',
      text: expect.stringContaining('not there any more'),
    });
  });

  it('is gone when a later look did not find it', () => {
    const entries = {
      [`${HERE}/threads-1.txt`]: alive,
      [`${HERE}/threads-2.txt`]: '# process 2700 ?: gone (no such process)\n',
    };
    expect(container({ entries }).init).toBe('gone');
  });

  it('was last seen so long before the status was read, or after it', () => {
    const seen = (statusMs: number, looks: Readonly<Record<number, string>>) => {
      const made = Object.entries(looks).map(([offsetMs, text], index) => [
        `${HERE}/threads-${index + 1}.txt`,
        { text, offsetMs: Number(offsetMs) },
      ]);
      const file = { text: status(), offsetMs: statusMs, durationMs: 10 };
      return container({ entries: { ...Object.fromEntries(made), [`${HERE}/status.json`]: file } }).seenBeforeStatusMs;
    };
    const gone = '# process 2700 ?: gone (no such process)\n';
    expect(seen(900, { 100: alive, 2500: gone })).toBe(810);
    expect(seen(900, { 100: alive, 1500: alive, 2500: gone })).toBe(-590);
    expect(seen(900, { 100: alive.replace(' S ', ' Z ') })).toBeNull();
    expect(container({ entries: { [`${HERE}/threads-1.txt`]: alive } }).seenBeforeStatusMs).toBeNull();
  });

  it('is somebody else when its pid was used again', () => {
    const detail = '2700: pid 2700 belongs to another process: it started at tick 99, the one meant at 5';
    const entries = { [`${HERE}/threads-1.txt`]: { text: '# process 2700 cron: gone\n', outcome: 'gone', detail } };
    expect(container({ entries }).init).toBe('reused');
  });

  it('is not known when nothing was captured of it', () => {
    expect(container()).toMatchObject({ init: null, views: [] });
  });
});

describe('what the runtimes believe', () => {
  it('is read of the status file of CRI, with the times of the file and what lies beside it', () => {
    const listing = `# lstat of /x, at 2026-11-29T11:42:35.120Z
file 0600 uid=0 size=8327 mtime=2026-11-29T11:40:33.569336228Z ctime=2026-11-29T11:40:34.569336228Z inode=812 device=26 status
file 0600 uid=0 size=0 mtime=2026-11-29T11:41:33Z ctime=2026-11-29T11:41:33Z inode=813 device=26 .tmp-status12345
`;
    const { criStatus, views } = container({
      entries: { [`${HERE}/status.json`]: status(), [`${HERE}/status.stat`]: listing },
    });
    expect(criStatus).toMatchObject({
      state: 'RUNNING',
      startedAt: 1_795_951_000_000,
      finishedAt: null,
      temporary: ['.tmp-status12345'],
    });
    expect(criStatus).toMatchObject({ file: { mtime: STARTED_AT - 116_431, size: 8327, cite: { line: 2 } } });
    expect(views).toMatchObject([{ source: 'CRI status file', says: 'running', word: 'RUNNING' }]);
  });

  it('is absent where it was looked for and not there, and null where it was not captured', () => {
    const notGot = [{ what: 'x', path: `${HERE}/status.json`, outcome: 'absent' }];
    expect(container({ notGot }).criStatus).toBe('absent');
    expect(
      container({ notGot: [{ what: 'x', path: `${HERE}/status.json`, outcome: 'timeout' }] }).criStatus,
    ).toBeNull();
    expect(container().criStatus).toBeNull();
  });

  it('puts all sources beside each other', () => {
    const entries = {
      [`${HERE}/status.json`]: status(),
      [`${HERE}/runc.txt`]:
        '# lstat of /run/containerd/runc/k8s.io/x, at 2026-11-29T11:42:35.120Z\n(not there) state.json\n(not there) exec.fifo\n',
      [`${HERE}/config.v2.json`]: JSON.stringify({
        ID: CONTAINER_ID,
        State: { Running: true, Pid: 2700, FinishedAt: '0001-01-01T00:00:00Z' },
      }),
      [`runtime/crictl-inspect-${CONTAINER_ID.slice(0, 12)}.txt`]: {
        text: '{\n  "status": {\n    "state": "CONTAINER_RUNNING"\n  }\n}\n',
        durationMs: 42,
      },
      [`runtime/docker-inspect-${CONTAINER_ID.slice(0, 12)}.txt`]: '[{"State":{"Status":"exited"}}]',
    };
    const notGot = [{ what: 'x', path: `${HERE}/threads-1.txt`, outcome: 'absent', detail: 'gone' }];
    const { views, runc } = container({ entries, notGot });
    expect(runc).toBe('absent');
    expect(views.map(({ source, says }) => [source, says])).toEqual([
      ['/proc', 'exited'],
      ['runc', 'absent'],
      ['CRI status file', 'running'],
      ['config.v2.json', 'running'],
      ['crictl', 'running'],
      ['docker', 'exited'],
    ]);
    expect(views.find(({ source }) => source === 'crictl')).toMatchObject({ tookMs: 42, cite: { line: 3 } });
  });

  it('says created while exec.fifo is there', () => {
    const runc = `# lstat of /x, at 2026-11-29T11:42:35.120Z\nfile 0600 uid=0 size=9 mtime=2026-11-29T11:40:33Z ctime=2026-11-29T11:40:33Z inode=1 device=26 state.json\nfifo 0622 uid=0 size=0 mtime=2026-11-29T11:40:33Z ctime=2026-11-29T11:40:33Z inode=2 device=26 exec.fifo\n`;
    const state = JSON.stringify({ id: CONTAINER_ID, init_process_pid: 2700, init_process_start: 5 });
    const found = container({ entries: { [`${HERE}/runc.txt`]: runc, [`${HERE}/runc/state.json`]: state } });
    expect(found).toMatchObject({ execFifo: true, runc: { initPid: 2700, file: { size: 9 } } });
    expect(found.views).toMatchObject([{ source: 'runc', says: 'created' }]);
  });
});

describe('the cgroup of a container', () => {
  it('of v2 says limits, states and growth', () => {
    const at = `/sys/fs/cgroup/kubepods.slice/pod.slice/cri-containerd-${CONTAINER_ID}.scope`;
    const file = (name: string, text: string) => `==> ${at}/${name} <==\n${text}\n`;
    const text = [
      file('cgroup.events', 'populated 1\nfrozen 1'),
      file('cgroup.freeze', '1'),
      file('pids.current', '64'),
      file('pids.max', '64'),
      file('pids.events', 'max 12'),
      file('memory.current', '1048576'),
      file('memory.high', '1048576'),
      file('memory.max', 'max'),
      file('memory.events', 'low 0\nhigh 7\nmax 0\noom 0\noom_kill 2'),
      file('io.max', '259:1 rbps=max wbps=1048576 riops=max wiops=max'),
    ].join('\n');
    const sample = (n: number) =>
      JSON.stringify({
        sample: n,
        offsetMs: n * 1000,
        files: {
          [`${at}/memory.events`]: `high ${n * 5}\n`,
          [`${at}/cpu.stat`]: `nr_throttled ${n}\nthrottled_usec ${n * 500_000}\n`,
        },
      });
    const { cgroup } = container({
      entries: { [`${HERE}/cgroup.txt`]: text, 'node/samples.jsonl': `${sample(1)}\n${sample(2)}\n` },
    });
    expect(cgroup).toMatchObject({
      version: 2,
      freezer: { state: 'FROZEN', self: true, cite: { line: 3 } },
      pids: { current: 64, max: 64, maxEvents: 12 },
      memory: { currentBytes: 1_048_576, highBytes: 1_048_576, maxBytes: null, oomKills: 2, highEventsGrowth: 5 },
      ioLimits: [{ text: 'io.max: 259:1 rbps=max wbps=1048576 riops=max wiops=max' }],
    });
  });

  it('of a real frozen pod on v1 says who froze it', () => {
    const frozen = factsOfBundle('freezer').containers?.filter(
      ({ cgroup }) => cgroup !== null && cgroup !== 'absent' && cgroup.freezer?.state !== 'THAWED',
    );
    expect(frozen).toMatchObject([{ cgroup: { version: 1, freezer: { state: 'FROZEN' } } }]);
  });
});

describe('a pod without a shim', () => {
  it('has the containers of which CRI kept a status', () => {
    const target = {
      kind: 'remnant',
      asked: 'shop/web-0',
      how: 'CRI store',
      remnant: { what: 'no shim', pod: { name: 'web-0', namespace: 'shop' }, ids: [CONTAINER_ID], paths: [] },
    };
    const facts = factsOfMade({ target, entries: { [`${HERE}/status.json`]: status() } });
    expect(facts).toMatchObject({ shims: null, threads: null, target: { name: 'shop/web-0' } });
    expect(facts.containers).toMatchObject([{ id: CONTAINER_ID, criStatus: { state: 'RUNNING' } }]);
  });
});
