import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STALLCAP } from '../../build/dist.ts';
import { type Containerd, startContainerd } from '../containerd.ts';
import { openBundle } from '../grab/bundle.ts';
import type { Started } from '../grab/stallcap.ts';
import { alive, startTicks, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { compile } from '../programs/compile.ts';
import { labUnavailable } from '../requirements.ts';
import { until } from '../wait.ts';
import { grabThrough, outcomesOf, runThrough } from './grab-through.ts';

/** When the shim is killed: what the grab has said by then. */
const MOMENTS = [
  ['after the first look', 'First look'],
  ['right after the signal', 'Signal to the shim'],
  ['after the sweep', 'Sweep'],
  ['after the files', 'State files'],
  ['after the samples', 'Samples'],
  ['after the runtime was asked', 'What the runtime says'],
] as const;

/** What needs no shim, or was there before it went. */
const LEFT = ['shim/threads-1.txt', 'node/processes.txt', 'node/meminfo', 'logs/containerd.log'];

describe.skipIf(labUnavailable())('a shim that ends', () => {
  let containerd: Containerd;
  let pods = 0;
  beforeAll(async () => {
    containerd = await startContainerd();
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  const newPod = () => {
    pods += 1;
    return containerd.runPod({ name: `web-${process.pid}-${pods}`, namespace: 'shop' });
  };
  const said = (started: Started, words: string) =>
    until(`'${words}'`, 20_000, () => started.said().includes(words), 1);

  it.for(MOMENTS)('%s leaves what was still there', async ([_, words], context) => {
    const pod = await newPod();
    const container = await pod.addContainer({ name: 'app' });
    const { bundle, run } = await grabThrough(context, containerd.folder, pod.id, {
      timeoutS: 25,
      args: ['--samples', '2', '--interval', '400ms'],
      meanwhile: async started => {
        await said(started, words);
        signal(pod.shimPid, 'SIGKILL');
      },
    });
    // Once the runtime was asked, all is there.
    expect(words === 'What the runtime says' ? [0, 3] : [3], run.stderr).toContain(run.exit);
    expect(run.left).toEqual([]);
    const outcomes = outcomesOf(bundle);
    for (const path of LEFT) expect(outcomes.get(path), path).toBe('ok');
    expect(bundle.threads('shim/threads-1.txt').length).toBeGreaterThan(4);
    expect(bundle.manifest.capture.outcome).not.toBe('failed');
    // CRI's word of the container. Its bundle is cleared away by containerd as soon as that sees the shim gone.
    expect(outcomes.get(`containers/${container.id}/status.json`)).toBe('ok');
  });

  it('while it is looked for is found, or not: a bundle with what is left, or a clear word', async context => {
    for (const ms of [0, 60, 120, 180]) {
      const pod = await newPod();
      const out = join(containerd.folder.path, `early-${ms}`);
      mkdirSync(out);
      const run = await runThrough(context, containerd.folder, ['grab', pod.id, '--samples', '0', '-o', `${out}/`], {
        timeoutS: 20,
        meanwhile: async started => {
          await until('it to run', 10_000, () => readlinkSync(`/proc/${started.pid}/exe`) === STALLCAP, 1);
          await sleep(ms);
          signal(pod.shimPid, 'SIGKILL');
        },
      });
      expect([3, 4], run.stderr).toContain(run.exit);
      if (run.exit === 4) expect(run.stderr).toMatch(/^Error: .*/m);
      else expect(outcomesOf(await openBundle(run.stdout.toString().trimEnd())).get('node/meminfo')).toBe('ok');
    }
  });

  it('before the grab is what is left of a pod, or none at all', async context => {
    const pod = await newPod();
    signal(pod.shimPid, 'SIGKILL');
    await until('its end', 5000, () => !alive(pod.shimPid));
    const out = join(containerd.folder.path, 'before');
    mkdirSync(out);
    const args = ['grab', pod.id, '--samples', '0', '-o', `${out}/`];
    const run = await runThrough(context, containerd.folder, args, { timeoutS: 20 });
    expect([3, 4], run.stderr).toContain(run.exit);
    if (run.exit === 3) expect((await openBundle(run.stdout.toString().trimEnd())).manifest.signals).toEqual([]);
  });

  it('and whose pid is another program by the time of the signal: that one is neither signalled nor taken for it', async context => {
    const pod = await newPod();
    const ticks = startTicks(pod.shimPid);
    const double = join(containerd.folder.path, 'double');
    mkdirSync(double, { recursive: true });
    copyFileSync(await compile(containerd.folder, 'shim-without-handler'), join(double, 'containerd-shim-runc-v2'));
    const { bundle } = await grabThrough(context, containerd.folder, pod.id, {
      timeoutS: 25,
      args: ['--samples', '1'],
      meanwhile: async started => {
        await said(started, 'First look');
        signal(started.pid, 'SIGSTOP');
        try {
          signal(pod.shimPid, 'SIGKILL');
          await until('its pid to be free', 5000, () => status(pod.shimPid) === null);
          await takePid(pod.shimPid, join(double, 'containerd-shim-runc-v2'));
        } finally {
          signal(started.pid, 'SIGCONT');
        }
      },
    });
    // SIGUSR1 would have killed it.
    expect(alive(pod.shimPid)).toBe(true);
    expect(startTicks(pod.shimPid)).not.toBe(ticks);
    expect(bundle.manifest.signals[0]?.outcome).toMatch(/^not sent \(guard same process: /);
    expect(outcomesOf(bundle).get('shim/threads-2.txt')).toBe('gone');
    expect(bundle.threads('shim/threads-2.txt')).toEqual([]);
  });

  /** Starts a program under a pid that is free: the kernel gives the one after ns_last_pid, unless another was quicker. */
  async function takePid(pid: number, program: string): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
      const child = spawn(program, ['-namespace', 'k8s.io', '-id', 'x', '-address', '/x'], { stdio: 'ignore' });
      if (child.pid === pid) return containerd.folder.process(pid, 'double');
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    throw new Error(`pid ${pid} was not to be had`);
  }
});
