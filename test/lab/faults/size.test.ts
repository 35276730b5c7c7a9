import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_BYTES } from '../../../src/collectors/logs/log-turn.ts';
import { during } from '../during.ts';
import type { Bundle } from '../grab/bundle.ts';
import { stallcap } from '../grab/stallcap.ts';
import { status } from '../proc.ts';
import { compile } from '../programs/compile.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { manyThreads } from '../stalls/many-threads.ts';
import { stalled } from '../stalls/stall.ts';
import { until } from '../wait.ts';
import { expectShimStacks, grabThrough, outcomesOf } from './grab-through.ts';

const MAX_BYTES = 150 * 1024 * 1024;
const QUICK = ['--samples', '1'];

/** Of the largest process: the main one, or a probe. */
const peakOf = ({ manifest }: Bundle): number => manifest.observer.peakRssBytes;

/** Names in a directory that are no UTF-8. */
const oddNames = (dir: string): string[] => readdirSync(dir, 'latin1').filter(name => name.startsWith('\xff\xfe'));

describe.skipIf(labUnavailable())('a grab stays small, and says what it cut,', () => {
  it('with 20,000 threads on the node', context =>
    during(
      stalled(async (folder, undo) => {
        const app = await runAppPod(folder, undo);
        const { total } = undo.use(await manyThreads({ processes: 200, threadsEach: 100 }));
        return { ...app, total };
      }),
      async ({ folder, pod, total }) => {
        const { bundle } = await grabThrough(context, folder, pod.id, { timeoutS: 30, args: QUICK });
        expectShimStacks(bundle);
        expect(outcomesOf(bundle).get('node/processes.txt')).toBe('ok');
        expect(bundle.text('node/processes.txt').match(/many-threads/g)?.length).toBeGreaterThanOrEqual(total);
        expect(peakOf(bundle)).toBeLessThan(MAX_BYTES);
      },
    ));

  it('with 300 more shims on the node', context =>
    during(
      stalled(async (folder, undo) => {
        const app = await runAppPod(folder, undo);
        const program = await compile(folder, 'shim-without-handler');
        const tasks = join(folder.path, 'more', 'io.containerd.runtime.v2.task', 'k8s.io');
        const ids = Array.from({ length: 300 }, (_, index) =>
          `e${index.toString(16).padStart(3, '0')}`.padEnd(64, 'e'),
        );
        const shims = ids.map(id => {
          const bundle = join(tasks, id);
          mkdirSync(bundle, { recursive: true });
          const annotations = {
            'io.kubernetes.cri.container-type': 'sandbox',
            'io.kubernetes.cri.sandbox-id': id,
            'io.kubernetes.cri.sandbox-name': `many-${id.slice(0, 4)}`,
            'io.kubernetes.cri.sandbox-namespace': 'many',
          };
          writeFileSync(join(bundle, 'config.json'), JSON.stringify({ ociVersion: '1.0.2', annotations }));
          const argv = ['-namespace', 'k8s.io', '-id', id, '-address', app.containerd.socket];
          const child = spawn(program, argv, {
            argv0: '/usr/bin/containerd-shim-runc-v2',
            cwd: bundle,
            stdio: 'ignore',
          });
          folder.process(child.pid ?? -1, 'shim');
          return child.pid ?? -1;
        });
        await until('the shims', 20_000, () => shims.every(pid => (status(pid)?.threads ?? 0) > 1));
        // A name that no other lab of this machine has.
        return { ...app, pod: await app.containerd.runPod({ name: `one-of-many-${process.pid}`, namespace: 'shop' }) };
      }),
      async ({ folder, pod }) => {
        const byId = await grabThrough(context, folder, pod.id, { timeoutS: 30, args: QUICK });
        expectShimStacks(byId.bundle);
        expect(peakOf(byId.bundle)).toBeLessThan(MAX_BYTES);
        const byName = await grabThrough(context, folder, `shop/${pod.name}`, { timeoutS: 30, args: QUICK });
        expect(byName.bundle.manifest.target).toMatchObject({ sandbox: { id: pod.id } });
        expectShimStacks(byName.bundle);
        expect((await stallcap(folder, ['list'])).exit).toBe(0);
      },
    ));

  it('with a secret in each of 100,000 lines of a log', context =>
    during(stalled(runAppPod), async ({ folder, pod }) => {
      const line = (n: number) =>
        `time="${new Date().toISOString()}" level=info msg="pull --password hunter${n} ${'x'.repeat(150)}"\n`;
      const lines = Array.from({ length: 1000 }, (_, n) => line(n)).join('');
      for (let written = 0; written < 100; written += 1) appendFileSync(join(folder.path, 'containerd.log'), lines);
      const { bundle } = await grabThrough(context, folder, pod.id, { timeoutS: 30, args: QUICK });
      const kept = bundle.manifest.items.find(({ path }) => path === 'logs/containerd.log');
      expect(kept?.redactions).toBeGreaterThan(50_000);
      expect(bundle.text('logs/containerd.log')).not.toContain('hunter');
      expect(peakOf(bundle)).toBeLessThan(MAX_BYTES);
    }));

  it('with a line of 64 MiB in a log that grows, and bytes that are no text', context =>
    during(stalled(runAppPod), async ({ folder, pod }) => {
      const log = join(folder.path, 'containerd.log');
      appendFileSync(log, Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256)));
      const file = openSync(log, 'a');
      for (let written = 0; written < 64; written += 1) writeSync(file, Buffer.alloc(1 << 20, 'x'));
      const growing = setInterval(() => writeSync(file, Buffer.alloc(256 << 10, 'grows and grows \n')), 50);
      try {
        const { bundle, run } = await grabThrough(context, folder, pod.id, { timeoutS: 30, args: QUICK });
        expect(run.exit).toBe(3);
        expectShimStacks(bundle);
        expect(outcomesOf(bundle).get('logs/containerd.log')).toBe('truncated');
        const kept = bundle.manifest.items.find(({ path }) => path === 'logs/containerd.log');
        // All that is promised of a log, but for the line that was cut.
        expect(kept?.bytes).toBeGreaterThan(LOG_BYTES - (1 << 20));
        expect(peakOf(bundle)).toBeLessThan(MAX_BYTES);
      } finally {
        clearInterval(growing);
        closeSync(file);
      }
    }));

  it('with names that are no UTF-8, and that could be taken for something else', context =>
    during(
      stalled(async (folder, undo) => {
        const app = await runAppPod(folder, undo);
        const odd = `
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b'\\xff\\xfe\\n=====\\x1b[31m', 0, 0, 0)
os.chdir(os.fsencode(os.environ['PLACE']))
os.mkdir(b'\\xff\\xfe \\n \\x1b]0;x\\x07')
time.sleep(1000)
`;
        const child = spawn('python3', ['-c', odd, 'x'.repeat(100_000), '\u001b[2J'], {
          stdio: 'ignore',
          env: { ...process.env, PLACE: app.pod.bundle },
        });
        folder.process(child.pid ?? -1, 'python3');
        const pid = child.pid ?? -1;
        await until(
          'its name, and its folder',
          20_000,
          () => status(pid)?.comm.startsWith('\xff') && oddNames(app.pod.bundle).length > 0,
        );
        return { ...app, odd: pid };
      }),
      async ({ folder, pod, odd }) => {
        const { bundle, run } = await grabThrough(context, folder, pod.id, { timeoutS: 30, args: QUICK });
        expectShimStacks(bundle);
        const rows = bundle
          .text('node/processes.txt')
          .split('\n')
          .filter(row => new RegExp(`^ *${odd} `).test(row));
        expect(rows).toHaveLength(1);
        expect(rows[0]).not.toContain('\u001b');
        for (const name of bundle.names) expect(name).toMatch(/^[\x20-\x7e]+$/);
        expect(run.stderr).not.toContain('\u001b');
        expect(run.exit, run.stderr).toBe(0);
      },
    ));
});
