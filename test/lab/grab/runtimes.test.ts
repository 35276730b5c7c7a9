import { readlinkSync, realpathSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startContainerd } from '../containerd.ts';
import { startDocker } from '../docker.ts';
import { during } from '../during.ts';
import { newerContainerd } from '../newer-containerd.ts';
import { alive } from '../proc.ts';
import { labUnavailable } from '../requirements.ts';
import { expectUnharmed, gapsOf, grab } from './grab.ts';
import { stallcap } from './stallcap.ts';

const QUICK = ['--samples', '1'];
const DUMP = /^=== BEGIN goroutine stack dump ===\n[\s\S]*\n=== END goroutine stack dump ===$/;

describe.skipIf(labUnavailable())('a grab', () => {
  it('from docker has every shim of the pod, pause included, with a dump of each', () =>
    during(startDocker(), async docker => {
      const pod = { name: `cart-${process.pid}`, namespace: 'shop', uid: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0' };
      const labels = (more: Readonly<Record<string, string>>) =>
        Object.fromEntries(
          Object.entries({ 'pod.name': pod.name, 'pod.namespace': pod.namespace, 'pod.uid': pod.uid, ...more }).map(
            ([key, value]) => [`io.kubernetes.${key}`, value],
          ),
        );
      const pause = await docker.runContainer('pause', undefined, labels({ 'docker.type': 'podsandbox' }));
      const app = await docker.runContainer(
        'app',
        undefined,
        labels({ 'docker.type': 'container', 'container.name': 'app', 'sandbox.id': pause.id }),
      );
      const { bundle } = await grab(docker.folder, [`shop/${pod.name}`, ...QUICK], { exit: 0 });
      expect(gapsOf(bundle)).toEqual([]);
      expect(bundle.manifest.target).toMatchObject({ sandbox: { runtime: 'docker', id: pause.id, pod } });
      expect(bundle.manifest.signals.map(({ pid, dump }) => [pid, dump]).sort()).toEqual(
        [pause, app].map(({ shimPid }) => [shimPid, 'complete']).sort(),
      );
      for (const { id, shimPid, initPid } of [pause, app]) {
        expect(bundle.text(`shim/${shimPid}/threads-1.txt`)).toContain(`# process ${shimPid} containerd-shim\n`);
        expect(bundle.text(`shim/${shimPid}/goroutines.txt`)).toMatch(DUMP);
        expect(bundle.threads(`containers/${id}/threads-1.txt`)).toMatchObject([{ tid: initPid }]);
        expect(JSON.parse(bundle.text(`containers/${id}/config.v2.json`))).toMatchObject({
          State: { Running: true, Pid: initPid },
        });
      }
      await expectUnharmed(docker, [pause, app], 'moby');
    }));

  it('by the name that docker gave a container has its one shim', () =>
    during(startDocker(), async docker => {
      const name = `registry-${process.pid}`;
      const container = await docker.runContainer(name);
      const { bundle, run } = await grab(docker.folder, [name, ...QUICK], { exit: 0 });
      expect(bundle.manifest.target).toMatchObject({ sandbox: { shims: [{ pid: container.shimPid }] } });
      expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
      expect(run.stderr).toContain(`Captured: ${name}, `);
      await expectUnharmed(docker, [container], 'moby');
    }));

  it.for([
    ['1.7', 'trixie', 'containerd.task.v2.Task'],
    ['2.x', 'forky', 'containerd.task.v3.Task'],
  ] as const)('from containerd %s is as whole as one from 1.6', async ([, release, service], { skip }) => {
    const binaries = await newerContainerd(release);
    if ('reason' in binaries) return skip(binaries.reason);
    await during(startContainerd({ bin: binaries.bin }), async containerd => {
      const pod = await containerd.runPod({ name: `cart-${process.pid}`, namespace: 'shop' });
      const container = await pod.addContainer({ name: 'app' });
      const { bundle } = await grab(containerd.folder, [pod.name, ...QUICK], { exit: 0 });
      expect(gapsOf(bundle)).toEqual([]);
      expect(bundle.manifest.target).toMatchObject({
        sandbox: { id: pod.id, shims: [{ exe: `${realpathSync(binaries.bin)}/containerd-shim-runc-v2` }] },
      });
      expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
      const calls = JSON.parse(bundle.text('runtime/shim.json'));
      expect(calls).toMatchObject(['Connect', 'State', 'State'].map(call => ({ call, service, outcome: 'ok' })));
      await expectUnharmed(containerd, [pod, container]);
    });
  });

  it('of a container without a pod is whole', () =>
    during(startContainerd(), async containerd => {
      const container = await containerd.runContainer({ id: `alone-${process.pid}` });
      const { bundle } = await grab(containerd.folder, [container.id, ...QUICK], { exit: 0 });
      expect(gapsOf(bundle)).toEqual([]);
      expect(bundle.manifest.target).toMatchObject({
        sandbox: { pod: null, namespace: 'default', shims: [{ pid: container.shimPid, generation: 'v2' }] },
      });
      expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
      expect(bundle.threads(`containers/${container.id}/threads-1.txt`)).toMatchObject([{ tid: container.initPid }]);
      await expectUnharmed(containerd, [container], 'default');
    }));

  it.each([
    {
      shims: 'with -debug',
      config: '[debug]\n  level = "debug"\n[plugins."io.containerd.runtime.v1.linux"]\n  shim_debug = true',
    },
    { shims: 'without -debug', config: '' },
  ])('from a v1 shim $shims has its dump, or says who took it', async ({ config }) => {
    await during(startContainerd({ config }), async containerd => {
      const container = await containerd.runContainer({ id: `alone-${process.pid}`, shim: 'v1' });
      const { bundle } = await grab(containerd.folder, [container.id, ...QUICK], { exit: config === '' ? [0, 3] : 0 });
      const dump = bundle.manifest.signals[0]?.dump;
      expect(bundle.manifest.target).toMatchObject({
        sandbox: { pod: null, namespace: 'default', shims: [{ pid: container.shimPid, generation: 'v1' }] },
      });
      expect(bundle.text('shim/threads-1.txt')).toContain(`# process ${container.shimPid} containerd-shim\n`);
      expect(bundle.threads(`containers/${container.id}/threads-1.txt`)).toMatchObject([{ tid: container.initPid }]);
      // A containerd that throws the log away reads it in a race with us.
      if (dump === 'complete') expect(bundle.text('shim/goroutines.txt')).toMatch(DUMP);
      else
        expect(dump).toBe(
          'lost (containerd took it: log sink keeps nothing: containerd throws the log of a v1 shim without -debug away)',
        );
      expect(gapsOf(bundle)).toHaveLength(dump === 'complete' ? 0 : 1);
      await expectUnharmed(containerd, [container], 'default');
    });
  });

  it('where several containerds run keeps to the one of its pod, and asks that one alone', () =>
    during(startContainerd(), first =>
      during(startContainerd(), async second => {
        const name = `cart-${process.pid}`;
        const [pod, other] = [
          await first.runPod({ name, namespace: 'shop' }),
          await second.runPod({ name, namespace: 'shop' }),
        ];
        const refused = await stallcap(first.folder, ['grab', `shop/${name}`]);
        expect(refused).toMatchObject({ exit: 2, left: [] });
        for (const { id } of [pod, other]) expect(refused.stderr).toContain(id.slice(0, 12));
        const { bundle } = await grab(second.folder, [other.id, ...QUICK], { exit: 0 });
        expect(gapsOf(bundle)).toEqual([]);
        expect(bundle.manifest.target).toMatchObject({
          sandbox: { shims: [{ pid: other.shimPid, root: second.root, address: second.socket }] },
        });
        expect(bundle.text('logs/containerd.log')).toContain(other.id);
        expect(bundle.text('runtime/ctr-commands.jsonl')).toContain(second.socket);
        expect(bundle.text('runtime/ctr-commands.jsonl')).not.toContain(first.socket);
        expect(first.log()).not.toContain('goroutine stack dump');
        expect(readlinkSync(`/proc/${pod.shimPid}/cwd`)).toBe(pod.bundle);
        expect(alive(pod.shimPid)).toBe(true);
      }),
    ));
});
