import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorDocument } from '../../../src/capture/doctor/doctor.ts';
import { STALLCAP } from '../../build/dist.ts';
import { BUSYBOX } from '../busybox-image.ts';
import { type Containerd, startContainerd } from '../containerd.ts';
import { openBundle } from '../grab/bundle.ts';
import { expectUnharmed } from '../grab/grab.ts';
import { startStallcap } from '../grab/stallcap.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { compilePreload } from '../programs/compile.ts';
import { labUnavailable } from '../requirements.ts';
import { note } from './figures.ts';
import { grabThrough, outcomesOf, runThrough } from './grab-through.ts';

const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, '../../../schemas/doctor.schema.json'), 'utf8'));
const isDocument = new Ajv2020({ formats: { 'date-time': true } }).compile(SCHEMA);

/** root, but for one capability. */
const without = (capability: string): string[] => ['setpriv', '--bounding-set', `-${capability}`];

/** In a mount namespace whose /proc hides the processes of others, without the right to see them all the same. */
const HIDEPID = [
  ...['unshare', '-m', 'sh', '-c', 'mount -t proc -o hidepid=invisible proc /proc && exec "$@"', 'sh'],
  ...without('sys_ptrace'),
];

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

  const doctor = async (prefix: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const run = await startStallcap(containerd.folder, ['doctor', '--json'], { prefix, env }).ended;
    const document: DoctorDocument = JSON.parse(run.stdout.toString());
    isDocument(document);
    expect(isDocument.errors).toBeNull();
    expect(run.exit).toBe(document.exitCode);
    return new Map(document.checks.map(({ name, outcome }) => [name, outcome]));
  };

  it.for([
    ['CAP_SYS_ADMIN', 'sys_admin', 'shim/threads-1.txt'],
    ['CAP_SYS_PTRACE', 'sys_ptrace', 'shim/fd.txt'],
  ] as const)(
    'root without %s takes what it may, each gap names it, and doctor says so beforehand',
    async ([name, capability, denied], context) => {
      expect((await doctor(without(capability))).get(name.toLowerCase().replaceAll('_', '-'))).toBe('lacks');
      const options = { timeoutS: 25, args: ['--samples', '1'], prefix: without(capability) };
      const { bundle, run } = await grabThrough(context, containerd.folder, pod.id, options);
      expect(run.exit).toBe(3);
      const all = [...bundle.manifest.items, ...bundle.manifest.notGot];
      const gaps = all.filter(({ outcome }) => outcome === 'denied');
      expect(gaps.map(gap => ('path' in gap ? gap.path : ''))).toContain(denied);
      for (const { detail } of gaps) expect(detail).toMatch(/CAP_\w+/);
      expect(gaps.some(({ detail }) => detail?.includes(name))).toBe(true);
      expect(outcomesOf(bundle).get('node/meminfo')).toBe('ok');
      expect(bundle.threads('shim/threads-1.txt').length).toBeGreaterThan(4);
      await expectUnharmed(containerd, [pod, container]);
    },
  );

  it('root without CAP_SYSLOG is told by doctor, and lacks at most the log of the kernel', async context => {
    expect((await doctor(without('syslog'))).get('cap-syslog')).toBe('lacks');
    const options = { timeoutS: 25, args: ['--samples', '1'], prefix: without('syslog') };
    const { bundle } = await grabThrough(context, containerd.folder, pod.id, options);
    const denied = bundle.manifest.notGot.filter(({ outcome }) => outcome === 'denied');
    // With kernel.dmesg_restrict=0 everybody may read it.
    expect(denied.filter(({ path }) => path !== 'logs/kernel.log')).toEqual([]);
    for (const { detail } of denied) expect(detail).toContain('CAP_SYSLOG');
  });

  it('a /proc that hides others is no node without pods: exit code 5, and doctor knows why', async context => {
    expect((await doctor(HIDEPID)).get('cap-sys-ptrace')).toBe('lacks');
    const run = await runThrough(context, containerd.folder, ['grab', pod.id], { timeoutS: 20, prefix: HIDEPID });
    // root sees the processes of root: it may also have got through to the shim.
    expect([3, 5], run.stderr).toContain(run.exit);
    expect(run.stderr).not.toMatch(/No pod, container or process of this node is called/);
  });

  it('nobody gets what everybody may see of the node, and each gap names a right', async context => {
    const nobody = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps=-all'];
    const out = join(containerd.folder.path, 'nobody');
    mkdirSync(out);
    chownSync(out, 65534, 65534);
    // The folder is root's alone: the place is handed over as the directory that it is started in.
    const prefix = ['sh', '-c', `exec 9<"$1"; shift; exec setpriv ${nobody.join(' ')} /proc/self/fd/9 "$@"`, 'sh'];
    const args = ['grab', '--node', '--samples', '1', '-o', '-'];
    const run = await runThrough(context, containerd.folder, args, { timeoutS: 25, prefix, cwd: out });
    expect(run.exit, run.stderr).toBe(3);
    const bundle = await openBundle(run.stdout);
    const gaps = [...bundle.manifest.items, ...bundle.manifest.notGot].filter(({ outcome }) => outcome === 'denied');
    expect(gaps.length).toBeGreaterThan(0);
    for (const { detail } of gaps) expect(detail).toMatch(/CAP_\w+|root/);
    expect(outcomesOf(bundle).get('node/processes.txt')).toBe('ok');
    expect((await doctor(prefix)).get('cap-sys-ptrace')).toBe('lacks');
  });

  it.for([
    ['with all rights', ['--privileged'], 0],
    ['without more than a container has', [], 3],
  ] as const)(
    'in a container with the pids of the node and its /run, /var and /proc, %s, takes what it may',
    async ([_, rights, exit], context) => {
      const { folder } = containerd;
      // Where the node has its programs, libraries and, here, the lab.
      const places = ['/run', '/var', '/lib', '/lib64', '/usr', dirname(STALLCAP), folder.path].filter(existsSync);
      const mounts = places.flatMap(path => ['--mount', `type=bind,src=${path},dst=${path},options=rbind:rw`]);
      const id = `tools-${process.pid}-${exit}`;
      const spec = ['--rm', '--net-host', '--with-ns', 'pid:/proc/1/ns/pid', '--cgroup', `/${folder.name}/${id}`];
      const file = join(folder.path, `${id}.tgz`);
      const grab = [STALLCAP, 'grab', pod.id, '--signal-again', '--samples', '1', '--timeout', '25s', '-o', file];
      const began = performance.now();
      await containerd
        .ctr(['run', ...spec, ...rights, ...mounts, BUSYBOX, id, ...grab], 60_000)
        .catch((error: { exitCode?: number }) => expect(error.exitCode).toBe(3));
      note(context, { overtimeMs: performance.now() - began - 25_000 });
      const bundle = await openBundle(file);
      expect(bundle.manifest.target).toMatchObject({ sandbox: { id: pod.id, shims: [{ pid: pod.shimPid }] } });
      expect(bundle.threads('shim/threads-1.txt').length).toBeGreaterThan(4);
      const denied = [...bundle.manifest.items, ...bundle.manifest.notGot].filter(
        ({ outcome }) => outcome === 'denied',
      );
      for (const { detail } of denied) expect(detail).toMatch(/CAP_\w+/);
      if (exit === 0) expect(denied).toEqual([]);
      else expect(denied.length).toBeGreaterThan(0);
      await expectUnharmed(containerd, [pod, container]);
    },
  );

  it('a kernel without stacks has all else, and is not called incomplete for it', async context => {
    const env = { LD_PRELOAD: await compilePreload(containerd.folder, 'hide-stack') };
    expect((await doctor([], env)).get('stack')).toBe('warn');
    const options = { timeoutS: 25, args: ['--samples', '1'], env };
    const { bundle, run } = await grabThrough(context, containerd.folder, pod.id, options);
    expect(run.exit, run.stderr).toBe(0);
    expect(outcomesOf(bundle).get('shim/threads-1.txt')).toBe('absent');
    expect(bundle.threads('shim/threads-1.txt').length).toBeGreaterThan(4);
    expect(bundle.text('shim/threads-1.txt')).not.toMatch(/^\[<0>\] /m);
  });
});
