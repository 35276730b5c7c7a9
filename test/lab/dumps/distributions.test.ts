import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askForDump, expectAnswers, expectWhole, steps } from '../../collectors/dump-expectations.ts';
import { type ContainerdOptions, startContainerd } from '../containerd.ts';
import { type LabFolder, openFolder } from '../folder.ts';
import { labUnavailable } from '../requirements.ts';
import { idleConnections } from './connections.ts';

interface Distribution {
  readonly name: string;
  /** Where it keeps containerd's directories and socket: here below the lab's folder. */
  readonly state: string;
  readonly root: string;
  readonly socket: string;
  /** How it takes what containerd writes to its stderr. */
  readonly log: Pick<ContainerdOptions, 'stderr' | 'prefix'>;
  /** Where the dump is found. */
  readonly found: RegExp;
}

/** containerd behind a real pipe, whose reader has the distribution's name and does with each piece what `script` says. */
const readBy = (comm: string, script: string, ...args: readonly string[]): readonly string[] => [
  ...['sh', '-c', `node=$1 script=$2 comm=$3 log=$4; shift 4; "$@" 2>&1 | exec "$node" -e "$script" "$comm" "$log"`],
  ...['sh', process.execPath, script, comm, args[0] ?? ''],
];

/** k3s and rke2 keep a file below containerd's own root (k3s pkg/agent/containerd). */
const KEEPS_FILE = `
  process.title = process.argv[1];
  const file = require('node:fs').openSync(process.argv[2], 'a');
  process.stdin.on('data', piece => require('node:fs').writeSync(file, piece));
`;

/** k0s logs each line as one of its own, in chunks when it is long, to the journal (k0s pkg/supervisor/logwriter.go). */
const LOGS_LINES = `
  process.title = process.argv[1];
  const log = (text, chunk) => require('node:fs').writeSync(2, 'time="2026-11-29 11:49:08" level=info msg=' +
    JSON.stringify(text) + (chunk === null ? '' : ' chunk=' + chunk) + ' component=containerd stream=stderr\\n');
  const SIZE = 16384;
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const full = Math.floor(line.length / SIZE);
    for (let chunk = 0; chunk < full; chunk += 1) log(line.slice(chunk * SIZE, (chunk + 1) * SIZE), chunk + 1);
    if (line.length > full * SIZE) log(line.slice(full * SIZE), full === 0 ? null : full + 1);
  });
`;

const k3s = (folder: LabFolder, name: string, root: string): Distribution => ({
  ...{ name, root, state: 'run/k3s/containerd', socket: 'run/k3s/containerd/containerd.sock' },
  log: { prefix: readBy(`${name}-server`, KEEPS_FILE, join(folder.path, root, 'containerd.log')) },
  found: new RegExp(`read by ${name}-server \\d+: which writes .*/${root}/containerd\\.log: a dump in it, complete`),
});

const DISTRIBUTIONS: readonly ((folder: LabFolder) => Distribution)[] = [
  folder => k3s(folder, 'k3s', 'var/lib/rancher/k3s/agent/containerd'),
  folder => k3s(folder, 'rke2', 'var/lib/rancher/rke2/agent/containerd'),
  () => ({
    ...{ name: 'k0s', state: 'run/k0s/containerd', root: 'var/lib/k0s/containerd', socket: 'run/k0s/containerd.sock' },
    log: { stderr: 'journald', prefix: readBy('k0s', LOGS_LINES) },
    found: /read by k0s \d+: descriptor 1 of k0s \d+ is a socket of systemd-journald \d+: a dump in it, complete/,
  }),
  () => ({
    ...{
      name: 'microk8s',
      state: 'var/snap/microk8s/common/run/containerd',
      socket: 'var/snap/microk8s/common/run/c.sock',
    },
    root: 'var/snap/microk8s/common/var/lib/containerd',
    // A snap has a mount namespace of its own.
    log: { stderr: 'journald', prefix: ['unshare', '--mount', '--propagation', 'private'] },
    found: /descriptor 2 of containerd \d+ is a socket of systemd-journald \d+: a dump in it, complete/,
  }),
];

describe.skipIf(labUnavailable())('a dump of 300 goroutines, of a pod of', () => {
  it.each(['k3s', 'rke2', 'k0s', 'microk8s'])('%s, comes whole out of where it keeps its log', async name => {
    await using folder = await openFolder();
    const found = DISTRIBUTIONS.map(made => made(folder)).find(each => each.name === name);
    if (found === undefined) throw new Error(`no ${name}`);
    const at = (path: string) => join(folder.path, path);
    mkdirSync(at(found.root), { recursive: true });
    const places = { state: at(found.state), root: at(found.root), socket: at(found.socket) };
    await using containerd = await startContainerd({ folder, ...places, ...found.log });
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    using _ = await idleConnections(pod, 150);
    const collected = await askForDump(pod.id);
    const text = expectWhole(collected);
    expect(text.match(/^goroutine \d+ /gm)?.length).toBeGreaterThan(300);
    expect(steps(collected)).toMatch(found.found);
    const [shim] = collected.sandbox.shims;
    expect(shim).toMatchObject({ root: expect.stringContaining(places.root), address: places.socket });
    await expectAnswers(containerd, pod);
  });
});
