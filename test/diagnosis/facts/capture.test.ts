import { describe, expect, it } from 'vitest';
import { CONTAINER_ID, SANDBOX_ID, SHIM_PID, STARTED_AT } from '../facts-of.ts';
import { factsOfMade, POD_UID } from '../made-bundle.ts';

describe('the capture', () => {
  it('says who was meant, and by which marks logs tell', () => {
    expect(factsOfMade({ entries: {} }).target).toMatchObject({
      ...{ name: 'shop/web-0', podUid: POD_UID, sandboxId: SANDBOX_ID, runtime: 'containerd' },
      ids: new Set([SANDBOX_ID, CONTAINER_ID]),
    });
    const node = factsOfMade({ entries: {}, target: { kind: 'node', how: '--node' } });
    expect(node).toMatchObject({ target: { name: 'the node', ids: new Set() }, containers: null, shims: null });
  });

  it('has versions from whoever says them', () => {
    const crictl = 'Version:  0.1.0\nRuntimeName:  containerd\nRuntimeVersion:  v1.7.24\nRuntimeApiVersion:  v1\n';
    const docker = `Client:\n Version: 1\n\nServer: Docker Engine - Community\n Engine:\n  Version:          27.3.1\n containerd:\n  Version:          1.7.22\n  GitCommit:        x\n runc:\n  Version:          1.1.14\n`;
    const kubelet = 'I1129 11:00:00.000000 900 server.go:463] "Kubelet version" kubeletVersion="v1.30.4"\n';
    const entries = {
      'runtime/crictl-version.txt': crictl,
      'runtime/docker-version.txt': docker,
      'logs/kubelet.log': kubelet,
    };
    expect(factsOfMade({ entries }).capture.versions).toMatchObject({
      containerd: '1.7.24',
      docker: '27.3.1',
      runc: '1.1.14',
      kubelet: '1.30.4',
    });
  });

  it.each([
    ['0::/system.slice/containerd.service\n', 2],
    ['4:memory:/kubepods\n', 1],
    ['4:memory:/kubepods\n0::/\n', 'hybrid'],
  ])('knows the version of cgroups: %j', (cgroup, version) => {
    expect(factsOfMade({ entries: { 'shim/cgroup': cgroup } }).capture.cgroupVersion).toBe(version);
  });

  it('lists what is flawed and what is missing', () => {
    const entries = { 'node/mountinfo': { text: '', outcome: 'timeout', detail: 'no answer for 1001 ms' } };
    const notGot = [{ what: 'crictl', outcome: 'absent', collector: 'crictl', phase: 'ask' }];
    const { capture } = factsOfMade({ entries, notGot });
    expect(capture.flawed.get('node/mountinfo')).toEqual({ outcome: 'timeout', detail: 'no answer for 1001 ms' });
    expect(capture.notGot).toMatchObject([{ what: 'crictl', outcome: 'absent' }]);
  });

  it('has the reads that hung in stallcap itself, and what became of the signal', () => {
    const stuck = {
      pid: 9,
      request: 'files',
      item: '/proc/812/cmdline',
      waitedMs: 1000.4,
      state: 'D',
      wchan: '__access_remote_vm',
    };
    const signal = {
      pid: SHIM_PID,
      signal: 'SIGUSR1',
      outcome: 'not sent (guard: SigCgt)',
      dump: 'not sent (guard: SigCgt)',
    };
    const facts = factsOfMade({ entries: {}, manifest: { stuckProbes: [stuck], signals: [signal] } });
    expect(facts.stuckProbes).toMatchObject([
      { item: '/proc/812/cmdline', cite: { text: expect.stringContaining('hung for 1000 ms') } },
    ]);
    expect(facts.signals).toMatchObject([{ pid: SHIM_PID, outcome: 'not sent (guard: SigCgt)' }]);
  });
});

describe('the daemons of a node', () => {
  const table = (...rows: readonly string[]) =>
    `  PID   TID  PPID STAT WCHAN                                ELAPSED COMMAND\n${rows.map(row => ` ${row}\n`).join('')}`;
  const daemons = (...rows: readonly string[]) =>
    factsOfMade({ entries: { 'node/processes.txt': { text: table(...rows), offsetMs: 1000 } } }).daemons ?? [];

  it('are found by their command lines, with when they were started', () => {
    expect(
      daemons(
        '812   812     1 Ssl  futex_do_wait                          02:00 /usr/bin/containerd --config /etc/containerd/config.toml',
        '900   900     1 Ssl  futex_do_wait                       01:00:00 /usr/bin/kubelet --v=2',
        '950   950     1 Ssl  futex_do_wait                       01:00:00 /usr/bin/dockerd -H fd://',
        '960   960     1 Sl   futex_do_wait                       01:00:00 /usr/bin/containerd-shim-runc-v2 -namespace k8s.io',
      ),
    ).toMatchObject([
      { kind: 'containerd', pid: 812, ageMs: 120_000, startedAt: STARTED_AT + 1000 - 120_000, ofTarget: true },
      { kind: 'kubelet', pid: 900 },
      { kind: 'dockerd', pid: 950 },
    ]);
  });

  it('of several containerds are told by address or state directory, or not at all', () => {
    const of = (args: string) => ` futex_do_wait                          02:00 containerd ${args}`;
    const found = daemons(
      `812   812     1 Ssl ${of('--state /run/containerd --root /var/lib/containerd')}`,
      `813   813     1 Ssl ${of('--config /var/run/docker/containerd/containerd.toml')}`,
    );
    expect(found.map(({ pid, ofTarget }) => [pid, ofTarget])).toEqual([
      [812, true],
      [813, null],
    ]);
  });
});

describe('questions to the runtimes', () => {
  it('have their end and how long they took', () => {
    const line = JSON.stringify({
      argv: ['crictl', '--timeout', '2s', 'ps', '--all'],
      outcome: 'timeout',
      exitCode: null,
      offsetMs: 4000,
      durationMs: 3000.2,
      stderr: 'x',
    });
    const facts = factsOfMade({ entries: { 'runtime/crictl-commands.jsonl': `${line}\nnot json\n` } });
    expect(facts.commands).toMatchObject([
      { tool: 'crictl', outcome: 'timeout', durationMs: 3000.2, at: STARTED_AT + 4000, cite: { line: 1 } },
    ]);
    expect(facts.commands?.[0]?.cite.text).toContain('timeout, 3000 ms');
  });
});
