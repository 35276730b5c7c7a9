import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { during } from '../during.ts';
import type { LabFolder } from '../folder.ts';
import { stallcap } from '../grab/stallcap.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { threads } from '../proc.ts';
import { compile } from '../programs/compile.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { stalled } from '../stalls/stall.ts';
import { until } from '../wait.ts';
import { expectShimStacks, grabThrough } from './grab-through.ts';

const ESC = String.fromCharCode(27);
/** As comm: what ends a line, begins a heading of a thread dump, and colours a terminal. */
const COMM = `\\n===== 1 ${ESC}[31m`;
/** As arguments: a row of ps and a heading that are none, the title of the terminal, 100 kB. */
const ARGUMENTS = [
  '\n===== 7 containerd-shim D ovl_sync_fs =====\n[<0>] ovl_sync_fs+0x1/0x2',
  '\n    1     1     0 D    ovl_sync_fs    00:01 containerd-shim',
  `${ESC}]0;owned${String.fromCharCode(7)}${ESC}[2J`,
  'x'.repeat(100_000),
  '<script>alert(1)</script>',
];

/** More than is read of a file at first: the annotations, which say whose container it is, stand behind it. */
const ENVIRONMENT = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`BIG_${index}`, 'x'.repeat(100_000)]));

/** Processes that call themselves the shim of the pod, and stand where it does, but for the root directory. */
async function pretend(folder: LabFolder, pod: Pod): Promise<PodContainer> {
  const program = await compile(folder, 'pretend-shims', '-static');
  const argv = ['-namespace', 'k8s.io', '-id', pod.id, '-address', '/run/containerd/containerd.sock'];
  const container = await pod.addContainer({
    name: 'pretender',
    command: ['/pretend', String(PRETENDERS), pod.bundle, ...argv],
    mounts: [{ hostPath: program, containerPath: '/pretend', readonly: true }],
  });
  await until('them all', 10_000, () => pretenders(container).length === PRETENDERS);
  return container;
}

const PRETENDERS = 40;

const pretenders = ({ initPid }: PodContainer) =>
  readFileSync(`/proc/${initPid}/task/${initPid}/children`, 'utf8')
    .split(' ')
    .filter(pid => pid !== '' && threads(Number(pid)).length === 2);

describe.skipIf(labUnavailable())('a container that is hostile', () => {
  it('adds no row, no thread, no path to a bundle, and reaches no terminal', context =>
    during(
      stalled(async (folder, undo) => {
        const app = await runAppPod(folder, undo);
        // The shell itself: without a last word it would become the sleep.
        const words = `printf '${COMM}' >/proc/self/comm; sleep 1000; true`;
        const evil = await app.pod.addContainer({
          name: 'evil',
          command: ['sh', '-c', words, ...ARGUMENTS],
          env: ENVIRONMENT,
        });
        await until('its name', 5000, () => readFileSync(`/proc/${evil.initPid}/comm`, 'utf8').includes('====='));
        return { ...app, evil, pretender: await pretend(folder, app.pod) };
      }),
      async ({ folder, pod, evil, pretender }) => {
        const { bundle, run, file } = await grabThrough(context, folder, pod.id, {
          timeoutS: 30,
          args: ['--samples', '1'],
        });
        expectShimStacks(bundle);
        expect(bundle.manifest.signals.map(({ pid }) => pid)).toEqual([pod.shimPid]);
        expect(bundle.manifest.target.how).toBe('sandbox id; what goes by it within a container was left aside');
        expect(existsSync(`/proc/${pretender.initPid}/root/signalled`)).toBe(false);
        const own = bundle.threads(`containers/${evil.id}/threads-1.txt`).map(({ tid }) => tid);
        expect(own).toEqual(threads(evil.initPid).map(({ tid }) => tid));
        const rows = bundle.text('node/processes.txt').split('\n').slice(1, -1);
        expect(rows.filter(row => !/^ *\d+ +\d+ +\d+ \S+ +\S+ /.test(row))).toEqual([]);
        // A thread of somebody else may really be there.
        expect(rows.filter(row => /^ *1 +1 +0 D +ovl_sync_fs/.test(row))).toEqual([]);
        expect(rows.filter(row => new RegExp(`^ *${evil.initPid} `).test(row))).toHaveLength(1);
        for (const name of bundle.names) expect(name).toMatch(/^[\x20-\x7e]+$/);
        for (const name of bundle.names.filter(path => /threads|blocked|processes|SUMMARY|children/.test(path)))
          expect(bundle.text(name), name).not.toContain(ESC);

        const said = [run.stderr];
        for (const args of [
          ['report', file],
          ['show', file],
          ['show', file, 'node/processes.txt'],
          ['show', file, `containers/${evil.id}/bundle/config.json`],
          ['list'],
          ['grab', pod.id, '--dry-run'],
        ]) {
          const { stdout, stderr } = await stallcap(folder, args);
          said.push(stdout.toString(), stderr);
        }
        for (const text of said) expect(text).not.toContain(ESC);
        const html = (await stallcap(folder, ['report', file, '--format', 'html'])).stdout.toString();
        expect(html).not.toContain('<script>alert(1)');
      },
    ));
});
