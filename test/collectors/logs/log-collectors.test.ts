import { describe, expect, it } from 'vitest';
import { containerdLog } from '../../../src/collectors/logs/containerd-log.ts';
import { dockerLog } from '../../../src/collectors/logs/docker-log.ts';
import { kernelLog } from '../../../src/collectors/logs/kernel-log.ts';
import { kubeletLog } from '../../../src/collectors/logs/kubelet-log.ts';
import { inTurn } from '../../../src/collectors/logs/log-turn.ts';
import { createHost } from '../../../src/host/linux.ts';
import { broughtBy, CONTAINERD, captureOn, DOCKERD, POD, textOf } from '../capture-on.ts';
import { PaperHost } from '../paper-host.ts';

describe('logs', () => {
  it('are read one after another, though their collectors run at once, and also after one failed', async () => {
    const capture = captureOn(new PaperHost().host);
    let running = 0;
    let most = 0;
    const read = (fails: boolean) => async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(resolve => setTimeout(resolve, 5));
      running -= 1;
      if (fails) throw new Error('torn');
    };
    const turns = [false, true, false, false].map(fails => inTurn(capture, read(fails)));
    const results = await Promise.allSettled(
      turns.map(async turn => {
        for await (const _ of turn);
      }),
    );
    expect(most).toBe(1);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });

  it('are read when the one before is packed, or given up', async () => {
    const capture = captureOn(new PaperHost().host);
    const order: string[] = [];
    const turn = (name: string) => inTurn(capture, async () => order.push(`${name} is read`));
    const first = turn('first');
    await first.next();
    const second = turn('second').next();
    await new Promise(resolve => setTimeout(resolve, 5));
    order.push('first is packed');
    await first.return();
    await second;
    expect(order).toEqual(['first is read', 'first is packed', 'second is read']);
  });

  it("of the kernel come from this machine's ring", async () => {
    const host = createHost();
    try {
      const brought = await broughtBy(kernelLog, captureOn(host));
      const evidence = brought.get('logs/kernel.log');
      // Without the right to read it the reason is there instead.
      if (evidence?.outcome === 'ok') expect(textOf(brought, 'logs/kernel.log')).toMatch(/\n$/);
      else expect(evidence?.detail).toBeTruthy();
    } finally {
      await host.close();
    }
  });

  it('are absent where no such daemon runs', async () => {
    const capture = captureOn(new PaperHost().host, { daemons: [] });
    expect((await broughtBy(containerdLog, capture)).get('logs/containerd.log')).toMatchObject({ outcome: 'absent' });
    expect((await broughtBy(kubeletLog, capture)).get('logs/kubelet.log')).toMatchObject({ outcome: 'absent' });
    expect((await broughtBy(dockerLog, capture)).size).toBe(0);
  });

  it("of containerd are those of the target's own, of several on the node", async () => {
    const other = {
      ...CONTAINERD,
      pid: 4000,
      address: '/run/docker/containerd.sock',
      state: '/run/docker',
      root: '/d',
    };
    const paper = new PaperHost({ [`${CONTAINERD.root}/containerd.log`]: 'one\n', '/d/containerd.log': 'two\n' });
    const ofPod = await broughtBy(containerdLog, captureOn(paper.host, { sandbox: POD, daemons: [other, CONTAINERD] }));
    expect([...ofPod].map(([path, { body }]) => [path, body.toString()])).toEqual([['logs/containerd.log', 'one\n']]);
    const ofNode = await broughtBy(containerdLog, captureOn(paper.host, { daemons: [other, CONTAINERD] }));
    expect([...ofNode].map(([path, { body }]) => [path, body.toString()])).toEqual([
      ['logs/containerd.log', 'two\n'],
      ['logs/containerd-2.log', 'one\n'],
    ]);
  });

  it.each([
    ['kubelet', ['containerd', 'k3s-server', 'kubelet'], 'descriptor 2 of kubelet 102 '],
    ['k3s', ['containerd', 'k3s-agent'], 'descriptor 2 of k3s-agent 101 '],
    ['microk8s', ['kubelite'], 'descriptor 2 of kubelite 100 '],
  ])('of the kubelet are found in %s', async (_, comms, words) => {
    const paper = new PaperHost();
    for (const [index, comm] of comms.entries()) paper.processes.set(100 + index, comm);
    const evidence = (await broughtBy(kubeletLog, captureOn(paper.host))).get('logs/kubelet.log');
    expect(evidence?.detail).toContain(words);
  });

  it('of a daemon fall back to its lines in syslog', async () => {
    const paper = new PaperHost({
      '/var/log/syslog': 'Nov 29 11:59:58 node cron[1]: no\nNov 29 11:59:59 node dockerd[900]: yes\n',
    });
    const brought = await broughtBy(dockerLog, captureOn(paper.host, { daemons: [DOCKERD] }));
    expect(textOf(brought, 'logs/docker.log')).toBe('Nov 29 11:59:59 node dockerd[900]: yes\n');
    expect(brought.get('logs/docker.log')?.source).toBe('/var/log/syslog, lines of dockerd');
  });
});
