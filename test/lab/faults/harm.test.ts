import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Containerd, startContainerd } from '../containerd.ts';
import { during } from '../during.ts';
import { expectValid } from '../grab/schema.ts';
import { stallcap } from '../grab/stallcap.ts';
import type { Pod } from '../pod.ts';
import { alive, status } from '../proc.ts';
import { compile } from '../programs/compile.ts';
import { labUnavailable } from '../requirements.ts';
import { run } from '../run.ts';
import { hungHelper } from '../shim-helper.ts';
import { stalled } from '../stalls/stall.ts';
import { grabThrough, runThrough } from './grab-through.ts';

describe.skipIf(labUnavailable())('a grab harms nobody', () => {
  let containerd: Containerd;
  let pod: Pod;
  beforeAll(async () => {
    containerd = await startContainerd();
    pod = await containerd.runPod({ name: `web-${process.pid}`, namespace: 'shop' });
    await pod.addContainer({ name: 'app' });
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  it('a process that is a shim by name, arguments, directory and log, and does not catch the signal, lives', context =>
    during(
      stalled(async folder => {
        const id = 'f'.repeat(64);
        const bundle = join(folder.path, 'state', 'io.containerd.runtime.v2.task', 'k8s.io', id);
        mkdirSync(bundle, { recursive: true });
        await run('mkfifo', [join(bundle, 'log')]);
        const program = join(folder.path, 'containerd-shim-runc-v2');
        copyFileSync(await compile(folder, 'shim-without-handler'), program);
        const words = `cd ${bundle} && exec 2<>log && exec ${program} -namespace k8s.io -id ${id} -address ${containerd.socket}`;
        const child = spawn('sh', ['-c', words], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
        const pid = child.pid ?? -1;
        folder.process(pid, 'double');
        await once(createInterface({ input: child.stdout }), 'line');
        return { id, pid };
      }),
      async ({ folder, id, pid }) => {
        const { bundle } = await grabThrough(context, folder, id, { timeoutS: 25, args: ['--samples', '1'] });
        expect(bundle.manifest.signals[0]?.outcome).toMatch(/^not sent \(guard handles SIGUSR1: .*would kill it/);
        expect(alive(pid)).toBe(true);
      },
    ));

  it('a delete helper of a shim is not taken for the shim, and lives', async context => {
    await using helper = await hungHelper(containerd, pod, 'delete');
    const { bundle } = await grabThrough(context, containerd.folder, pod.id, {
      timeoutS: 25,
      args: ['--samples', '1'],
    });
    expect(bundle.manifest.signals.map(({ pid }) => pid)).toEqual([pod.shimPid]);
    expect(alive(helper.pid)).toBe(true);
  });

  it('nothing is written but the bundle, and what lies in /run/stallcap, and nothing of a container is opened', async context => {
    const trace = join(containerd.folder.path, 'trace');
    const calls =
      'open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat';
    const { file } = await grabThrough(context, containerd.folder, pod.id, {
      timeoutS: 60,
      args: ['--samples', '0', '--skip', 'ps,ctr,crictl,docker'],
      prefix: ['strace', '-f', '-qq', '-s', '4096', '-o', trace, `-etrace=${calls}`],
    });
    const done = readFileSync(trace, 'utf8')
      .split('\n')
      .filter(line => / = \d+/.test(line));
    const written = done
      .filter(line => /O_(WRONLY|RDWR|CREAT|TRUNC)/.test(line) || !/^\d+ +(open|openat)\(/.test(line))
      .flatMap(line => /"([^"]+)"/.exec(line)?.[1] ?? []);
    const allowed = (path: string) =>
      path.startsWith(file) ||
      path.startsWith('/run/stallcap') ||
      /^\/proc\/(self|\d+)\//.test(path) ||
      path.startsWith('/dev/');
    expect(written.some(path => path.startsWith(file))).toBe(true);
    expect([...new Set(written.filter(path => !allowed(path)))]).toEqual([]);
    const opened = done.flatMap(line => /^\d+ +open(?:at)?\([^"]*"([^"]+)"/.exec(line)?.[1] ?? []);
    expect(opened).toContain(`/proc/${pod.shimPid}/mountinfo`);
    // Its links lead where it wants them to.
    expect(opened.filter(path => /\/rootfs(?:\/|$)|^\/proc\/\d+\/(?:root|cwd)\//.test(path))).toEqual([]);
  });

  it('children are the first that the kernel takes, and give way after the first look; the I/O class is never idle', async context => {
    const seen = { oom: new Set<string>(), nice: [] as number[], classes: new Set<string>() };
    await grabThrough(context, containerd.folder, pod.id, {
      timeoutS: 25,
      args: ['--samples', '2', '--interval', '500ms'],
      meanwhile: async started => {
        const over = started.ended.then(() => true);
        while (!(await Promise.race([over, new Promise<false>(resolve => setTimeout(resolve, 20, false))]))) {
          const late = started.said().includes('State files');
          for (const pid of started.processes().filter(other => other !== started.pid)) {
            const title = text(`/proc/${pid}/cmdline`);
            if (!/--stallcap-(probe|writer)/.test(title)) continue;
            // One that has just been forked has not come to it yet.
            if ((status(pid)?.threads ?? 0) < 6) continue;
            seen.oom.add(text(`/proc/${pid}/oom_score_adj`).trim());
            const nice = Number(text(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')[16]);
            if (late && title.includes('probe')) seen.nice.push(nice);
            else if (!started.said().includes('First look')) expect(nice).toBe(0);
            seen.classes.add(await run('ionice', ['-p', String(pid)]).catch(() => ''));
          }
        }
      },
    });
    expect([...seen.oom]).toContain('1000');
    expect(seen.nice).toContain(5);
    expect([...seen.classes].filter(words => words.startsWith('idle'))).toEqual([]);
  });

  it('one line to syslog tells of the signal, and one of the grab', async ({ task, skip }) => {
    if (existsSync('/dev/log')) return skip('this machine has a syslog of its own');
    const socket = join(containerd.folder.path, 'syslog');
    const lines = join(containerd.folder.path, 'syslog.txt');
    const listen = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); print('ready', flush=True)
out = open(sys.argv[2], 'wb', buffering=0)
while True: out.write(s.recv(65536) + b'\\n')
`;
    const child = spawn('python3', ['-c', listen, socket, lines], { stdio: ['ignore', 'pipe', 'ignore'] });
    containerd.folder.process(child.pid ?? -1, 'python3');
    await once(createInterface({ input: child.stdout }), 'line');
    containerd.folder.note({ kind: 'path', path: '/dev/log' });
    symlinkSync(socket, '/dev/log');
    try {
      await grabThrough({ task }, containerd.folder, pod.id, { timeoutS: 25, args: ['--samples', '1'] });
      // Of this pod: others of the machine may have something to say as well.
      const ofPod = new RegExp(`stallcap\\[\\d+\\]: .*(?:${pod.id.slice(0, 12)}|${pod.name})`);
      const told = readFileSync(lines, 'utf8')
        .split('\n')
        .filter(line => ofPod.test(line));
      expect(told).toHaveLength(2);
      expect(told[0]).toMatch(
        new RegExp(`stallcap\\[\\d+\\]: SIGUSR1 to shim ${pod.shimPid} of sandbox ${pod.id.slice(0, 12)}, by uid 0`),
      );
      expect(told[1]).toMatch(
        new RegExp(`stallcap\\[\\d+\\]: grab of shop/${pod.name} .*: complete, 0 missing, \\d+ ms, to /`),
      );
      // A syslog that takes nothing more holds nobody up.
      process.kill(child.pid ?? -1, 'SIGSTOP');
      await run(
        'sh',
        ['-c', 'for i in $(seq 400); do timeout 0.05 logger -- full; [ $? = 124 ] && break; done; true'],
        60_000,
      );
      const stuck = await grabThrough({ task }, containerd.folder, pod.id, { timeoutS: 25, args: ['--samples', '1'] });
      expect(stuck.run.exit, stuck.run.stderr).toBe(0);
    } finally {
      rmSync('/dev/log', { force: true });
      child.kill('SIGKILL');
    }
  });

  it('a dry run says what would be tried, captures nothing and signals nobody', async context => {
    const before = containerd.log();
    const cwd = join(containerd.folder.path, 'dry');
    mkdirSync(cwd);
    const words = await runThrough(context, containerd.folder, ['grab', pod.id, '--dry-run'], { timeoutS: 15, cwd });
    expect(words.exit, words.stderr).toBe(0);
    const text = words.stdout.toString();
    expect(text).toContain(
      `Would capture: shop/${pod.name}, sandbox ${pod.id.slice(0, 12)}, shim ${pod.shimPid}, 1 container (`,
    );
    expect(text).toMatch(/^Would signal: SIGUSR1 to shim \d+, once, if its guards allow/m);
    // Not here where this is a disk of containerd's; in a temporary directory in memory it may be.
    expect(text).toMatch(/^Would write: \/\S+\/stallcap-\S+\.tar\.gz, else \/(?:dev\/shm|run\/stallcap)\//m);
    const json = await stallcap(containerd.folder, ['grab', pod.id, '--dry-run', '--json'], { cwd });
    expectValid('plan', JSON.parse(json.stdout.toString()));
    const node = await stallcap(containerd.folder, ['grab', '--node', '--dry-run', '-o', 'node.tgz'], { cwd });
    expect(node.stdout.toString()).toMatch(
      /^Would capture: the node alone\nWould signal: nobody\nWould write: \S+\/node\.tgz, else /,
    );
    const nobody = await stallcap(containerd.folder, ['grab', pod.id, '--dry-run', '--no-signal'], { cwd });
    expect(nobody.stdout.toString()).toMatch(/^Would signal: nobody \(--no-signal\)$/m);
    expect(await run('ls', ['-A', cwd])).toBe('');
    expect(containerd.log().slice(before.length)).not.toContain('goroutine stack dump');
  });
});

const text = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};
