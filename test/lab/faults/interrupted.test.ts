import { mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyBundle } from '../../../src/bundle/verify.ts';
import { fileChunks } from '../../../src/host/open-file.ts';
import { STALLCAP } from '../../build/dist.ts';
import { type Containerd, startContainerd } from '../containerd.ts';
import { openBundle } from '../grab/bundle.ts';
import { startStallcap } from '../grab/stallcap.ts';
import type { Pod } from '../pod.ts';
import { alive } from '../proc.ts';
import { signal } from '../processes.ts';
import { labUnavailable } from '../requirements.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';
import { note } from './figures.ts';
import { inParallel } from './in-parallel.ts';

const SEALED_WITHIN_MS = 2000;

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map(item => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

describe.skipIf(labUnavailable())('a grab that is', () => {
  let containerd: Containerd;
  let pod: Pod;
  let memory = '';
  let places = 0;
  beforeAll(async () => {
    containerd = await startContainerd();
    pod = await containerd.runPod({ name: `web-${process.pid}`, namespace: 'shop' });
    await pod.addContainer({ name: 'app' });
    // Where a bundle goes on a node whose disk hangs. On this machine's, a new file may wait for others' journal.
    memory = join(containerd.folder.path, 'memory');
    mkdirSync(memory);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', containerd.folder.name, memory]);
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  const place = (): string => {
    places += 1;
    const path = join(memory, `place-${places}`);
    mkdirSync(path);
    return path;
  };
  const start = (out: string, more: readonly string[] = []) =>
    startStallcap(containerd.folder, ['grab', pod.id, '--signal-again', '-o', `${out}/`, ...more]);
  /** Until the process is stallcap: the way there, through a cgroup, takes its time. */
  const startUp = async (out: string, more: readonly string[] = []) => {
    const started = start(out, more);
    await until('it to run', 10_000, () => readlinkSync(`/proc/${started.pid}/exe`) === STALLCAP, 1);
    return started;
  };

  it.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'sent %s at a random moment has sealed what there is within two seconds',
    async name => {
      const moments = Array.from({ length: 8 }, () => Math.random() * 2500);
      const sealed = await inParallel(moments, 2, async ms => {
        const out = place();
        const started = await startUp(out);
        await sleep(ms);
        const at = performance.now();
        signal(started.pid, name);
        const ended = await started.ended;
        const why = `${name} after ${Math.round(ms)} ms: ${ended.stderr}`;
        expect(performance.now() - at, why).toBeLessThan(SEALED_WITHIN_MS);
        expect(ended.left, why).toEqual([]);
        if (ended.signal === name) {
          // Before its first line ran, there was nothing to seal.
          expect([ended.stderr, readdirSync(out)], why).toEqual(['', []]);
          return false;
        }
        expect(ended.exit, why).toBe(3);
        expect(ended.stderr).toContain(`Interrupted: ${name}`);
        const bundle = await openBundle(ended.stdout.toString().trimEnd());
        expect(bundle.manifest.capture).toMatchObject({ outcome: 'interrupted', reason: name });
        expect(bundle.threads('shim/threads-1.txt').length, why).toBeGreaterThan(4);
        return true;
      });
      expect(sealed.filter(Boolean).length).toBeGreaterThan(4);
    },
  );

  it('left by a terminal that is closed, as a dropped ssh session does, has sealed what there is', async () => {
    const out = place();
    const dropped = `
import os, pty, signal, subprocess, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
time.sleep(1.5)
began = time.monotonic()
os.close(master)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), time.monotonic() - began)
`;
    const { stdout } = await execa('python3', [
      '-c',
      dropped,
      STALLCAP,
      'grab',
      pod.id,
      '--signal-again',
      '-o',
      `${out}/`,
    ]);
    const [exit, seconds] = stdout.split(' ').map(Number);
    expect([exit, readdirSync(out)]).toEqual([3, [expect.stringMatching(/\.tar\.gz$/)]]);
    expect(seconds).toBeLessThan(SEALED_WITHIN_MS / 1000);
    const bundle = await openBundle(join(out, readdirSync(out)[0] ?? ''));
    expect(bundle.manifest.capture).toMatchObject({ outcome: 'interrupted', reason: 'SIGHUP' });
  });

  it('sent a second SIGINT ends at once, though its seal hangs', async () => {
    const started = start(place());
    const children = () => started.processes().filter(pid => pid !== started.pid);
    await until('the samples', 20_000, () => started.said().includes('State files'));
    // Nobody who would say that all is sealed, the next writer included.
    const stopping = setInterval(() => {
      for (const pid of children()) signal(pid, 'SIGSTOP');
    }, 2);
    try {
      signal(started.pid, 'SIGINT');
      await until('it to seal', 5000, () => started.said().includes('! Samples'));
      await sleep(100);
      const at = performance.now();
      signal(started.pid, 'SIGINT');
      await until('its end', 5000, () => !alive(started.pid), 5);
      expect(performance.now() - at).toBeLessThan(1000);
    } finally {
      clearInterval(stopping);
      for (const pid of children()) signal(pid, 'SIGCONT');
    }
    expect(await started.ended).toMatchObject({ signal: 'SIGINT', left: [] });
  });

  it('robbed of one of its children at a random moment seals a whole bundle, where it can', async context => {
    const moments = Array.from({ length: 16 }, (_, index) => (index + Math.random()) * 150);
    const robbed = await inParallel(shuffled(moments), 4, async ms => {
      const out = place();
      const grabbing = await startUp(out, ['--samples', '3', '--interval', '500ms']);
      await sleep(ms);
      const [child] = shuffled(grabbing.processes().filter(pid => pid !== grabbing.pid));
      if (child !== undefined) signal(child, 'SIGKILL');
      const { exit, stdout, stderr, left } = await grabbing.ended;
      expect([0, 3], stderr).toContain(exit);
      expect(left, stderr).toEqual([]);
      // Without its writer it goes to memory, and leaves nothing where it was to be.
      const file = stdout.toString().trimEnd();
      const elsewhere = dirname(file) !== out;
      try {
        expect(await verifyBundle(fileChunks(file)), stderr).toMatchObject({ state: 'whole', problems: [] });
        expect(readdirSync(out)).toEqual(elsewhere ? [] : [basename(file)]);
      } finally {
        if (elsewhere) rmSync(file, { force: true });
      }
      return child !== undefined;
    });
    const robberies = robbed.filter(Boolean).length;
    note(context, { robbed: robberies });
    expect(robberies).toBeGreaterThan(4);
  }, 120_000);

  it('killed at 50 random moments leaves what it had, readable and verified as far as it goes', async context => {
    // As long as a grab takes on a node that hangs: most of its time is waiting, so several can wait at a time.
    const args = ['--samples', '10', '--interval', '2500ms'];
    const each = 23_000 / 50;
    const moments = Array.from({ length: 50 }, (_, index) => (index + Math.random()) * each);
    const kept = await inParallel(shuffled(moments), 8, async ms => {
      const out = place();
      const grabbing = await startUp(out, args);
      await sleep(ms);
      // The look itself is over sooner; on a machine with this many at a time it is not said to be so for a while.
      const looked = grabbing.said().includes('First look');
      signal(grabbing.pid, 'SIGKILL');
      const ended = await grabbing.ended;
      const why = `killed after ${Math.round(ms)} ms`;
      expect([ended.signal, ended.left], why).toEqual(['SIGKILL', []]);
      const [name, ...others] = readdirSync(out);
      expect(others, why).toEqual([]);
      if (name === undefined) return { ms, looked, threads: false };
      expect(name, why).toMatch(/\.tar\.gz\.partial$/);
      const seen = await verifyBundle(fileChunks(join(out, name)));
      expect([seen.state, seen.problems.map(({ code }) => code)], why).toEqual(['cut', ['cut']]);
      // plan.json is the first entry, the stacks of the shim the second.
      return { ms, looked, threads: seen.entries > 1 };
    });
    const survived = kept.filter(({ threads, looked }) => threads || !looked).length;
    // Nearly all were killed long after the look: what is excepted is not what is shown.
    expect(kept.filter(({ looked }) => looked).length).toBeGreaterThan(40);
    note(context, { killed: kept.length, survived });
    const lost = kept.filter(({ threads, looked }) => looked && !threads).map(({ ms }) => Math.round(ms));
    expect(survived, `no stacks from those killed after ${lost.join(', ')} ms`).toBeGreaterThanOrEqual(48);
  }, 240_000);
});
