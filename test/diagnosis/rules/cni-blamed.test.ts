import { describe, expect, it } from 'vitest';
import type { DaemonFacts, Facts } from '../../../src/diagnosis/facts.ts';
import { cniBlamed } from '../../../src/diagnosis/rules/cni-blamed.ts';
import { eventOf, factsOf, logsOf, processOf, processTable, SANDBOX_ID } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { CONTAINERD_PID, containerdDumps, judge, shimDump } from '../judge.ts';

const containerd: DaemonFacts = {
  ...{
    kind: 'containerd',
    pid: CONTAINERD_PID,
    stat: 'Ssl',
    ageMs: 86_400_000,
    startedAt: null,
    args: '/usr/bin/containerd',
    ofTarget: true,
    threadsInD: 0,
  },
  cite: { entry: 'node/processes.txt', line: 2, text: '812 containerd' },
};
const child = (args: string, ageMs = 30_000) =>
  processTable(processOf({ pid: 5000, ppid: CONTAINERD_PID, args, ageMs }));
const asked = eventOf('sandbox-run-requested', {
  agoMs: 31_000,
  container: SANDBOX_ID,
  ids: [SANDBOX_ID],
  message: 'RunPodSandbox for &PodSandboxMetadata{Name:web-0,}',
});

const blamed = (processes: Facts['processes'], rest: Partial<Facts> = {}) =>
  judge(cniBlamed, factsOf({ processes, daemons: [containerd], ...rest }));

describe('cni-blamed', () => {
  const daemonGoroutines = containerdDumps(['1.6.20-cni-add']);

  it('is proved by containerd in libcni, the plugin as its child, and a request of this pod that is open', () => {
    const [found] = blamed(child('/opt/cni/bin/calico'), { daemonGoroutines, logs: logsOf([asked]) });
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 30_000,
      says: expect.stringContaining('process 5000, /opt/cni/bin/calico'),
    });
    expect(found?.because.map(({ text }) => text).join()).toContain('exec.(*Cmd).Wait');
    expect(found?.links[0]?.waitsFor).toEqual(['process:5000']);
  });

  it('takes any child of containerd for the plugin that its dump shows it to wait for', () => {
    expect(blamed(child('sleep 60'), { daemonGoroutines, logs: logsOf([asked]) })).toMatchObject([
      { verdict: 'proved' },
    ]);
    expect(blamed(child('sleep 60'))).toEqual([]);
  });

  it('is likely when it may be for another pod', () => {
    expect(blamed(child('/opt/cni/bin/calico'), { daemonGoroutines })).toMatchObject([
      { verdict: 'likely', says: expect.stringContaining('for this pod or another') },
    ]);
    const over = eventOf('other', {
      agoMs: 20_000,
      container: SANDBOX_ID,
      ids: [SANDBOX_ID],
      message: `RunPodSandbox for web-0 returns sandbox id "${SANDBOX_ID}"`,
    });
    expect(blamed(child('/opt/cni/bin/calico'), { daemonGoroutines, logs: logsOf([asked, over]) })).toMatchObject([
      { verdict: 'likely' },
    ]);
  });

  it('is likely without a dump, by the name of the plugin', () => {
    const [found] = blamed(child('/opt/cni/bin/aws-cni'), { logs: logsOf([asked]) });
    expect(found).toMatchObject({ verdict: 'likely' });
    expect(found?.next.join()).toContain('--daemons');
  });

  it('does not fire when the dump shows containerd elsewhere', () => {
    expect(blamed(child('/opt/cni/bin/calico'), { daemonGoroutines: containerdDumps(['1.6.20-healthy']) })).toEqual([]);
  });

  it('does not take the shim, runc or a decompressor for a plugin, nor a plugin that came just now', () => {
    for (const args of [
      '/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id x start',
      'runc --version',
      '/usr/bin/unpigz -d -c',
      '/opt/nri/plugins/10-topology',
    ]) {
      expect(blamed(child(args), { daemonGoroutines })).toEqual([]);
    }
    expect(blamed(child('/opt/cni/bin/calico', 1000), { daemonGoroutines })).toEqual([]);
  });

  it('does not fire when the shim is busy itself', () => {
    expect(
      blamed(child('/opt/cni/bin/calico'), { daemonGoroutines, goroutines: [shimDump('1.6.20-umount-in-delete')] }),
    ).toEqual([]);
    expect(
      blamed(child('/opt/cni/bin/calico'), { daemonGoroutines, goroutines: [shimDump('1.6.20-healthy')] }),
    ).toHaveLength(1);
  });

  it('finds nothing in captures of pods on the network of the host', () => {
    for (const name of ['healthy', 'runc-create-held', 'containerd-restarted'])
      expect(judge(cniBlamed, factsOfBundle(name))).toEqual([]);
  });
});
