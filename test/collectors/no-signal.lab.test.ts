import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { during } from '../lab/during.ts';
import { type LabFolder, openFolder } from '../lab/folder.ts';
import { alive, status, threads } from '../lab/proc.ts';
import { signal } from '../lab/processes.ts';
import { compile } from '../lab/programs/compile.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { epollCtlDelayed } from '../lab/stalls/epoll-ctl-delayed.ts';
import { until } from '../lab/wait.ts';
import { askForDump, expectAnswers, expectNotSent, withPod } from './dump-expectations.ts';

const FREEZER = '/sys/fs/cgroup/freezer';

describe.skipIf(labUnavailable())('no signal is sent', () => {
  it('when the user wants none', () =>
    withPod({}, async (containerd, pod) => {
      expectNotSent(await askForDump(pod.id, { signal: false }), /^not sent \(--no-signal\)$/, 'absent');
      expect(containerd.log()).not.toContain('goroutine stack dump');
    }));

  // kata's runtime-rs has the very name of its Go shim.
  it.each(['containerd-shim-runc-v2', 'containerd-shim-kata-v2'])(
    'to a %s that is a shim in every respect but has no handler: it lives on',
    async name => {
      await using folder = await openFolder();
      const { pid, id } = await startShimWithoutHandler(folder, name);
      const collected = await askForDump(id, { forceSignal: true });
      expect(collected.signals[0]?.guards.map(({ passed }) => passed)).toEqual([true, true, false, true, true]);
      const why = /^not sent \(guard handles SIGUSR1: SigCgt [0-9a-f]{16} lacks 0x200: the signal would kill it\)$/;
      expectNotSent(collected, why, 'absent');
      expect(alive(pid)).toBe(true);
      // The test itself: such a process does die of it.
      signal(pid, 'SIGUSR1');
      await until('its end', 5000, () => !alive(pid));
    },
  );

  it('to a shim with a thread that the Go runtime cannot stop, and the shim goes on answering', () =>
    during(epollCtlDelayed(), async ({ containerd, pod, thread }) => {
      const why = new RegExp(
        `^not sent \\(guard world can stop: thread ${thread.tid} hangs in epoll_ctl \\(t, ptrace_stop\\)`,
      );
      expectNotSent(await askForDump(pod.id), why, 'error');
      await expectAnswers(containerd, pod);
    }));

  it('to a stopped shim, where it would stay pending', () =>
    withPod({}, async (containerd, pod) => {
      signal(pod.shimPid, 'SIGSTOP');
      try {
        await until('the shim to be stopped', 5000, () => status(pod.shimPid)?.state === 'T');
        const why = /^not sent \(guard not stopped or frozen: it is stopped \(T\): the signal would stay pending\)$/;
        expectNotSent(await askForDump(pod.id), why, 'error');
      } finally {
        signal(pod.shimPid, 'SIGCONT');
      }
      await expectAnswers(containerd, pod);
      expect(containerd.log()).not.toContain('goroutine stack dump');
    }));

  it.skipIf(!existsSync(FREEZER))('to a shim that a cgroup has frozen', () =>
    withPod({}, async (containerd, pod) => {
      const cgroup = join(FREEZER, `${containerd.folder.name}-frozen`);
      containerd.folder.note({ kind: 'path', path: cgroup });
      mkdirSync(cgroup);
      writeFileSync(join(cgroup, 'cgroup.procs'), `${pod.shimPid}`);
      try {
        writeFileSync(join(cgroup, 'freezer.state'), 'FROZEN');
        await until('the shim to be frozen', 5000, () => threads(pod.shimPid).every(({ state }) => state === 'D'));
        const why = /^not sent \(guard not stopped or frozen: \d+ of \d+ threads are frozen by a cgroup/;
        expectNotSent(await askForDump(pod.id), why, 'error');
      } finally {
        writeFileSync(join(cgroup, 'freezer.state'), 'THAWED');
        writeFileSync(join(FREEZER, 'cgroup.procs'), `${pod.shimPid}`);
        rmdirSync(cgroup);
      }
      await expectAnswers(containerd, pod);
    }),
  );

  it('to a shim that is gone', () =>
    withPod({}, async (_, pod) => {
      const kill = async () => {
        signal(pod.shimPid, 'SIGKILL');
        await until('the end of the shim', 5000, () => !alive(pod.shimPid));
      };
      expectNotSent(await askForDump(pod.id, { before: kill }), /^not sent \(guard same process: /, 'error');
    }));
});

/** A C program with the name, the command line and the place of a shim server, two threads, and no signal handler. */
async function startShimWithoutHandler(
  folder: LabFolder,
  name: string,
): Promise<{ readonly pid: number; readonly id: string }> {
  const id = `${'c0ffee'.repeat(10)}c0de`;
  const bundle = join(folder.path, 'state', 'io.containerd.runtime.v2.task', 'k8s.io', id);
  mkdirSync(bundle, { recursive: true });
  const program = join(folder.path, name);
  renameSync(await compile(folder, 'shim-without-handler'), program);
  const args = ['-namespace', 'k8s.io', '-id', id, '-address', join(folder.path, 'containerd.sock')];
  const child = spawn(program, args, { cwd: bundle, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  child.unref();
  const { pid = 0 } = child;
  folder.process(pid, program);
  await new Promise(resolve => child.stdout.once('data', resolve));
  return { pid, id };
}
