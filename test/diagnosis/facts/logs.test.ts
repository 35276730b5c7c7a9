import { describe, expect, it } from 'vitest';
import type { Facts, LogFacts, LogKind } from '../../../src/diagnosis/facts.ts';
import { CONTAINER_ID, SANDBOX_ID, STARTED_AT } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { factsOfMade, POD_UID } from '../made-bundle.ts';

const OTHER_ID = '7e'.repeat(32);

function logged(text: string, entry = 'logs/containerd.log'): Facts & { readonly logs: LogFacts } {
  const facts = factsOfMade({ entries: { [entry]: text } });
  if (facts.logs === null) throw new Error('no logs');
  return { ...facts, logs: facts.logs };
}

const kinds = (text: string, entry?: string) => logged(text, entry).logs.events.map(({ kind }) => kind);

describe('messages of containerd about the target', () => {
  const id = CONTAINER_ID;
  const lines: readonly (readonly [LogKind, string])[] = [
    ['state-timeout', `level=error msg="get state for ${id}" error="context deadline exceeded: unknown"`],
    ['exit-received', `level=info msg="received exit event &TaskExit{ContainerID:${id},ID:${id},Pid:9,}"`],
    ['exit-received', `level=info msg="received sandbox container exit event container_id:\\"${id}\\" id:\\"${id}\\""`],
    [
      'exit-handling-failed',
      `level=error msg="failed to handle container TaskExit event &TaskExit{ContainerID:${id},}" error="failed to stop container: failed to delete task: context deadline exceeded: unknown"`,
    ],
    [
      'exit-handling-failed',
      `level=error msg="Failed to handle exit event &TaskExit{ContainerID:${id},} for ${id}" error="x"`,
    ],
    [
      'backoff-failed',
      `level=error msg="Failed to handle backOff event &TaskExit{ContainerID:${id},} for ${id}" error="x"`,
    ],
    ['backoff-enqueued', `level=info msg="Events for \\"${id}\\" is in backoff, enqueue event &TaskExit{}"`],
    ['exit-retried', `level=info msg="TaskExit event &TaskExit{ContainerID:${id},}"`],
    ['delete-failed', `level=error msg="failed to delete task" error="context deadline exceeded" id=${id}`],
    ['shim-disconnected', `level=info msg="shim disconnected" id=${id} namespace=k8s.io`],
    ['dead-shim-cleanup', `level=info msg="cleaning up dead shim" namespace=k8s.io id=${id}`],
    [
      'unmount-failed',
      `level=warning msg="failed to cleanup rootfs mount" error="failed to unmount target /run/x/${id}/rootfs: device or resource busy"`,
    ],
    ['drain-failed', `level=warning msg="failed to drain init process ${id} io" error="context deadline exceeded"`],
    ['stop-requested', `level=info msg="StopContainer for \\"${id}\\" with timeout 30 (s)"`],
    ['kill-sent', `level=info msg="Kill container \\"${id}\\""`],
    [
      'kill-wait-failed',
      `level=error msg="StopContainer for \\"${id}\\" failed" error="rpc error: code = DeadlineExceeded desc = an error occurs during waiting for container \\"${id}\\" to be killed: wait container: context deadline exceeded"`,
    ],
    ['start-requested', `level=info msg="StartContainer for \\"${id}\\""`],
    ['start-returned', `level=info msg="StartContainer for \\"${id}\\" returns successfully"`],
    [
      'start-failed',
      `level=error msg="StartContainer for \\"${id}\\" failed" error="rpc error: code = DeadlineExceeded"`,
    ],
    [
      'not-running',
      `level=error msg="ExecSync for \\"${id}\\" failed" error="Container to stop \\"${id}\\" must be in running or unknown state, current state \\"CONTAINER_EXITED\\""`,
    ],
    ['metrics-failed', `level=error msg="collecting metrics for ${id}" error="cgroups: cgroup deleted: unknown"`],
    ['ttrpc-closed', `level=error msg="failed to stop task ${id}" error="ttrpc: closed: unknown"`],
    ['other', `level=info msg="something else about ${id}"`],
  ];

  it.each(lines)('%s', (kind, line) => {
    const bare = `time="2026-11-29T11:40:00.5Z" ${line}`;
    const journal = `2026-11-29T11:40:00.600000+0000 node-1 containerd[812]: ${bare}`;
    for (const text of [bare, journal]) {
      const [event] = logged(`${text}\n`).logs.events;
      expect(event).toMatchObject({
        kind,
        container: id,
        time: Date.UTC(2026, 10, 29, 11, 40, 0, 500),
        source: 'containerd',
      });
      expect(event?.cite).toMatchObject({ entry: 'logs/containerd.log', line: 1 });
    }
  });

  it('are the same in JSON', () => {
    const line = JSON.stringify({
      error: 'x',
      level: 'error',
      msg: `get state for ${id}`,
      time: '2026-11-29T11:40:00.5Z',
    });
    expect(logged(`${line}\n`).logs.events).toMatchObject([{ kind: 'state-timeout', level: 'error', error: 'x' }]);
  });

  it('are the same on a terminal', () => {
    const line = `INFO[2026-11-29T11:40:00.500000000Z] shim disconnected                             id=${id}`;
    expect(logged(`${line}\n`).logs.events).toMatchObject([{ kind: 'shim-disconnected', container: id }]);
  });

  it('say when the process exited, in the words of both generations, and not for the zero time', () => {
    const old = `time="2026-11-29T11:40:00Z" level=error msg="failed to handle container TaskExit event &TaskExit{ContainerID:${id},ExitStatus:137,ExitedAt:2026-11-29 11:30:19.073921379 +0000 UTC,XXX_unrecognized:[],}" error=x`;
    const later = `time="2026-11-29T11:41:00Z" level=info msg="TaskExit event container_id:\\"${id}\\" pid:5 exit_status:137 exited_at:{seconds:1795951819 nanos:73921379}"`;
    const zero = `time="2026-11-29T11:42:00Z" level=info msg="TaskExit event container_id:\\"${id}\\" exited_at:{seconds:-62135596800}"`;
    const times = logged(`${old}\n${later}\n${zero}\n`).logs.events.map(({ exitedAt }) => exitedAt);
    expect(times[0]).toBeCloseTo(Date.UTC(2026, 10, 29, 11, 30, 19, 73), -1);
    expect(times[1]).toBeCloseTo(1_795_951_819_073, -1);
    expect(times[2]).toBeNull();
  });

  it('name the container where they name its sandbox as well', () => {
    const line = `time="2026-11-29T11:40:00Z" level=info msg="CreateContainer within sandbox \\"${SANDBOX_ID}\\" for &ContainerMetadata{Name:app,Attempt:0,} returns container id \\"${CONTAINER_ID}\\""`;
    expect(logged(`${line}\n`).logs.events).toMatchObject([
      { container: CONTAINER_ID, ids: [SANDBOX_ID, CONTAINER_ID] },
    ]);
  });
});

describe('what else is in a log', () => {
  it('is counted when it is about another container, and not kept', () => {
    const line = (id: string, seconds: number) =>
      `time="2026-11-29T11:40:${String(seconds).padStart(2, '0')}Z" level=error msg="get state for ${id}" error="context deadline exceeded"`;
    const text = [line(OTHER_ID, 0), line(OTHER_ID, 20), line(CONTAINER_ID, 40), line(OTHER_ID, 59)].join('\n');
    const { logs } = logged(text);
    expect(logs.events).toHaveLength(1);
    expect(logs.counts.get('state-timeout')).toMatchObject({ count: 4, containers: 2 });
    expect(logs.stateTimeouts).toMatchObject({
      total: 4,
      byContainer: new Map([
        [OTHER_ID, 3],
        [CONTAINER_ID, 1],
      ]),
    });
    expect(logs.stateTimeouts.perMinute).toBeCloseTo(4.07, 1);
  });

  it('is kept when it is about the node and names nobody', () => {
    const text = 'time="2026-11-29T11:40:00Z" level=info msg="containerd successfully booted in 0.07s"\n';
    expect(kinds(text)).toEqual(['daemon-started']);
  });

  it('is dropped when it is neither: other pods, debug lines, dumps', () => {
    const dump = `time="2026-11-29T11:40:00Z" level=info msg="=== BEGIN goroutine stack dump ===\\ngoroutine 1 [running]:" path=/run/${SANDBOX_ID}`;
    const debug = `time="2026-11-29T11:40:00Z" level=debug msg="event published" id=${CONTAINER_ID}`;
    const other = `time="2026-11-29T11:40:00Z" level=info msg="StartContainer for \\"${OTHER_ID}\\" returns successfully"`;
    expect(kinds([dump, debug, other, 'PullImage "registry.example/app"'].join('\n'))).toEqual([]);
  });

  it('keeps the first and the newest thousands about the target, however many there are', () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => {
      return `time="${new Date(STARTED_AT - 1_000_000 + n).toISOString()}" level=info msg="line ${n}" id=${CONTAINER_ID}`;
    });
    const { events, sources } = logged(lines.join('\n')).logs;
    expect(sources).toMatchObject([
      { lines: 20_000, from: STARTED_AT - 1_000_000, to: STARTED_AT - 1_000_000 + 19_999 },
    ]);
    expect(events).toHaveLength(3000);
    expect(events.at(0)?.message).toBe('line 0');
    expect(events.at(-1)?.message).toBe('line 19999');
  });
});

describe("kubelet's log", () => {
  it('is about the target by uid, by name, and by the older name of it', () => {
    const text = `I1129 11:40:00.000001     900 kubelet.go:2100] "SyncLoop DELETE" source="api" pods=["shop/web-0"]
E1129 11:40:01.000001     900 remote_runtime.go:269] "StopPodSandbox from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" podSandboxID="${SANDBOX_ID}"
E1129 11:40:02.000001     900 pod_workers.go:191] Error syncing pod ${POD_UID} ("web-0_shop(${POD_UID})"), skipping: rpc error
E1129 11:40:03.000001     900 remote_runtime.go:269] "StopPodSandbox from runtime service failed" err="x" podSandboxID="${OTHER_ID}"
I1129 11:40:04.000001     900 kubelet.go:1823] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m57s ago
`;
    expect(kinds(text, 'logs/kubelet.log')).toEqual(['other', 'kill-wait-failed', 'other', 'pleg-unhealthy']);
    expect(logged(text, 'logs/kubelet.log').logs.counts.get('kill-wait-failed')?.count).toBe(2);
  });

  it('puts lines without year and zone on the clock of the others', () => {
    const facts = logged(`E1129 11:42:00.000000     900 x.go:1] "failed" podUID="${POD_UID}"\n`, 'logs/kubelet.log');
    expect(facts.logs.events).toMatchObject([{ time: STARTED_AT - 30_000, source: 'kubelet' }]);
  });
});

describe('the log of a real capture', () => {
  it('has the course of a stuck delete, on one clock, and the version', () => {
    const facts = factsOfBundle('state-behind-delete');
    const { events = [], counts } = facts.logs ?? {};
    expect(counts?.get('state-timeout')?.count).toBe(3);
    const course = events
      .map(({ kind }) => kind)
      .filter(kind => /start-returned|state-timeout|exit-handling-failed|exit-retried/.test(kind));
    expect(course).toEqual([
      'start-returned',
      'state-timeout',
      'state-timeout',
      'exit-handling-failed',
      'exit-retried',
      'state-timeout',
    ]);
    expect(events.find(({ kind }) => kind === 'exit-handling-failed')?.exitedAt).toBeGreaterThan(
      STARTED_AT - 86_400_000,
    );
    expect(facts.capture.versions.containerd).toBe('1.6.20~ds1');
  });
});
