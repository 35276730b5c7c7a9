import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorDocument } from '../../../src/capture/doctor/doctor.ts';
import { STALLCAP } from '../../build/dist.ts';
import { type Containerd, startContainerd } from '../containerd.ts';
import { type Bundle, openBundle } from '../grab/bundle.ts';
import { expectUnharmed, gapsOf } from '../grab/grab.ts';
import { expectValid } from '../grab/schema.ts';
import { type RunOptions, startStallcap } from '../grab/stallcap.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { compilePreload } from '../programs/compile.ts';
import { labUnavailable } from '../requirements.ts';
import { until } from '../wait.ts';
import { note } from './figures.ts';
import { grabThrough, outcomesOf, runThrough } from './grab-through.ts';

/** root, but for one capability. */
const without = (capability: string): string[] => ['setpriv', '--bounding-set', `-${capability}`];

/** uid 65534, without any right. The executable may lie where only root gets: it is handed over as an open file. */
const NOBODY_WORDS =
  'exec 9<"$1"; shift; exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all /proc/self/fd/9 "$@"';
const NOBODY = ['sh', '-c', NOBODY_WORDS, 'sh'];

/** The same where /proc hides the processes of others. root is in the group that sees them all the same. */
const HIDEPID = [
  ...['unshare', '-m', 'sh', '-c', `mount -t proc -o hidepid=invisible proc /proc && ${NOBODY_WORDS}`, 'sh'],
];

/** What doctor said: outcomes by name of the check. */
function checksOf(text: string): ReadonlyMap<string, string> {
  const document: DoctorDocument = JSON.parse(text);
  expectValid('doctor', document);
  return new Map(document.checks.map(({ name, outcome }) => [name, outcome]));
}

/** Whatever was denied names the right that is missing. */
function deniedIn({ manifest }: Bundle): readonly { readonly path?: string; readonly detail?: string }[] {
  const denied = [...manifest.items, ...manifest.notGot].filter(({ outcome }) => outcome === 'denied');
  for (const { detail } of denied) expect(detail).toMatch(/CAP_\w+/);
  return denied;
}

describe.skipIf(labUnavailable())('where a right is missing', () => {
  let containerd: Containerd;
  let pod: Pod;
  let container: PodContainer;
  beforeAll(async () => {
    containerd = await startContainerd();
    pod = await containerd.runPod({ name: `web-${process.pid}`, namespace: 'shop' });
    container = await pod.addContainer({ name: 'app' });
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  const doctor = async (options: RunOptions) => {
    const { stdout, stderr, exit } = await startStallcap(containerd.folder, ['doctor', '--json'], options).ended;
    const checks = checksOf(stdout.toString());
    expect(exit, stderr).toBe([...checks.values()].includes('lacks') ? 3 : 0);
    return checks;
  };

  it('and none is: doctor lacks nothing of what a grab needs, and the grab is complete', async context => {
    const checks = await doctor({});
    expect([...checks].filter(([name, outcome]) => outcome === 'lacks' && !/^(cap-|log-sink)/.test(name))).toEqual([]);
    const options = { timeoutS: 25, args: ['--samples', '1'] };
    const { run } = await grabThrough(context, containerd.folder, pod.id, options);
    expect(run.exit, run.stderr).toBe(0);
  });

  it.for([
    ['CAP_SYS_ADMIN', 'sys_admin', 'shim/threads-1.txt'],
    ['CAP_SYS_PTRACE', 'sys_ptrace', 'shim/fd.txt'],
  ] as const)(
    'root without %s takes what it may, each gap names it, and doctor says so beforehand',
    async ([name, capability, path], context) => {
      const prefix = without(capability);
      expect((await doctor({ prefix })).get(name.toLowerCase().replaceAll('_', '-'))).toBe('lacks');
      const options = { timeoutS: 25, args: ['--samples', '1'], prefix };
      const { bundle, run } = await grabThrough(context, containerd.folder, pod.id, options);
      expect(run.exit).toBe(3);
      const denied = deniedIn(bundle);
      expect(denied.map(gap => gap.path)).toContain(path);
      expect(denied.find(gap => gap.path === path)?.detail).toContain(name);
      expect(outcomesOf(bundle).get('node/meminfo')).toBe('ok');
      expect(bundle.threads('shim/threads-1.txt').length).toBeGreaterThan(4);
      await expectUnharmed(containerd, [pod, container]);
    },
  );

  it('root without CAP_SYSLOG is told by doctor, and lacks at most the log of the kernel', async context => {
    const prefix = without('syslog');
    expect((await doctor({ prefix })).get('cap-syslog')).toBe('lacks');
    const options = { timeoutS: 25, args: ['--samples', '1'], prefix };
    const { bundle } = await grabThrough(context, containerd.folder, pod.id, options);
    // With kernel.dmesg_restrict=0 everybody may read it.
    const denied = deniedIn(bundle).map(({ path, detail }) => `${path}: ${detail}`);
    expect(denied.filter(gap => !/^logs\/kernel\.log: .*CAP_SYSLOG/.test(gap))).toEqual([]);
  });

  it('a /proc that hides others is not taken for a node without pods: exit code 5, and doctor knows why', async context => {
    const checks = await doctor({ prefix: HIDEPID });
    expect([checks.get('processes'), checks.get('cap-sys-ptrace')]).toEqual(['lacks', 'lacks']);
    const run = await runThrough(context, containerd.folder, ['grab', pod.id], { timeoutS: 20, prefix: HIDEPID });
    expect(run.exit, run.stderr).toBe(5);
    expect(run.stderr).toMatch(/hidepid/);
  });

  it('nobody gets what everybody may see of the node, and each gap names a right', async context => {
    const args = ['grab', '--node', '--samples', '1', '-o', '-'];
    const run = await runThrough(context, containerd.folder, args, { timeoutS: 25, prefix: NOBODY });
    expect(run.exit, run.stderr).toBe(3);
    const bundle = await openBundle(run.stdout);
    expect(deniedIn(bundle).length).toBeGreaterThan(0);
    expect(outcomesOf(bundle).get('node/processes.txt')).toBe('ok');
    expect((await doctor({ prefix: NOBODY })).get('cap-sys-ptrace')).toBe('lacks');
  });

  it.for([
    ['with all rights', true],
    ['with the rights that containers have', false],
  ] as const)(
    "in a pod with hostPID and the node's /proc, /run and /var, %s, takes what it may",
    async ([_, privileged], context) => {
      const { folder } = containerd;
      const tools = await containerd.runPod({ name: `tools-${process.pid}`, hostPid: true, privileged });
      // Beside those three: where the node has its programs, their libraries and, here, the lab.
      const places = ['/proc', '/run', '/var', '/lib', '/lib64', '/usr', dirname(STALLCAP), folder.path];
      const mounts = places.filter(existsSync).map(path => ({ hostPath: path, containerPath: path }));
      const file = join(folder.path, `from-${privileged ? 'privileged' : 'plain'}.tgz`);
      const words = `"$0" doctor --json >"$1.json"; exec "$0" grab ${pod.id} --signal-again --samples 1 --timeout 25s -o "$1"`;
      const began = performance.now();
      const grabbing = await tools.addContainer({
        name: 'stallcap',
        command: ['sh', '-c', words, STALLCAP, file],
        env: { PATH: '/bin:/usr/bin:/usr/sbin' },
        mounts,
      });
      const ended = await until('the grab to end', 40_000, async () => {
        const seen = await grabbing.status();
        return seen.state === 'CONTAINER_EXITED' && seen;
      });
      note(context, { overtimeMs: performance.now() - began - 25_000 });
      const foretold = checksOf(readFileSync(`${file}.json`, 'utf8'));
      for (const name of ['cap-sys-ptrace', 'cap-sys-admin', 'cap-syslog'])
        expect(foretold.get(name), name).toBe(privileged ? 'ok' : 'lacks');
      const bundle = await openBundle(file);
      expect(ended.exit_code, gapsOf(bundle).join('\n')).toBe(privileged ? 0 : 3);
      expect(bundle.manifest.target).toMatchObject({ sandbox: { id: pod.id, shims: [{ pid: pod.shimPid }] } });
      expect(bundle.threads('shim/threads-1.txt').length).toBeGreaterThan(4);
      expect(outcomesOf(bundle).get('shim/threads-1.txt')).toBe(privileged ? 'ok' : 'denied');
      expect(deniedIn(bundle).length > 0).toBe(!privileged);
      await tools.stop();
      await expectUnharmed(containerd, [pod, container]);
    },
  );

  it('a kernel without stacks has all else, and is not called incomplete for it', async context => {
    const env = { LD_PRELOAD: await compilePreload(containerd.folder, 'hide-stack') };
    expect((await doctor({ env })).get('stack')).toBe('warn');
    const options = { timeoutS: 25, args: ['--samples', '1'], env };
    const { bundle, run } = await grabThrough(context, containerd.folder, pod.id, options);
    expect(run.exit, run.stderr).toBe(0);
    expect(outcomesOf(bundle).get('shim/threads-1.txt')).toBe('absent');
    expect(bundle.threads('shim/threads-1.txt').length).toBeGreaterThan(4);
    expect(bundle.text('shim/threads-1.txt')).not.toMatch(/^\[<0>\] /m);
  });
});
