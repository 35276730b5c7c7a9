import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/diagnosis/diagnose.ts';
import { factsFromEntries, readFacts } from '../../src/diagnosis/read-facts.ts';
import { CONTAINER_ID } from './facts-of.ts';
import { bundleNames, entriesOf, factsOfBundle } from './fixture-bundle.ts';
import { madeEntries } from './made-bundle.ts';

/** As the writer orders them: plan.json first, manifest.json last. */
async function packed(entries: ReadonlyMap<string, Uint8Array>): Promise<Buffer> {
  const tar = pack();
  const rank = (path: string) => (path === 'plan.json' ? 0 : path === 'manifest.json' ? 2 : 1);
  for (const [path, body] of [...entries].toSorted(([a], [b]) => rank(a) - rank(b))) {
    tar.entry({ name: `stallcap-node-1-web-0/${path}` }, Buffer.from(body));
  }
  tar.finalize();
  return buffer(tar.pipe(createGzip()));
}

async function* inPieces(file: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += bytes) yield file.subarray(at, at + bytes);
}

describe('the facts of a bundle', () => {
  it.each(bundleNames())('%s are the same from its bytes, in pieces of any size, as from its entries', async name => {
    const file = await packed(entriesOf(name));
    const known = factsOfBundle(name);
    for (const bytes of [977, 65_536])
      expect(await readFacts(inPieces(file, bytes))).toEqual({ ...known, capture: { ...known.capture, cut: false } });
  });

  it('of one that was cut anywhere are those of what came before, and are judged without a fault', async () => {
    const file = await packed(entriesOf('state-behind-delete'));
    const known = factsOfBundle('state-behind-delete');
    let seen = 0;
    for (let bytes = file.length - 300; bytes > 2000; bytes -= 1733) {
      const facts = await readFacts(inPieces(file.subarray(0, bytes), 4096));
      expect(facts.capture).toMatchObject({ cut: true, durationMs: null });
      expect(facts.stuckProbes).toBeNull();
      expect(facts.target).toEqual(known.target);
      const { failed, outcome } = diagnose(facts);
      expect(failed).toEqual([]);
      if (facts.threads !== null) seen += 1;
      if (outcome === 'stall') expect(facts.threads ?? facts.logs).not.toBeNull();
    }
    expect(seen).toBeGreaterThan(1);
  });

  it('are refused without a plan, with one that is none, and with one that is not first', async () => {
    const entries = new Map(entriesOf('healthy'));
    const without = new Map([...entries].filter(([path]) => path !== 'plan.json'));
    await expect(readFacts(inPieces(await packed(without), 4096))).rejects.toThrow('plan.json is not its first entry');
    for (const text of ['', 'null', '[]', '{"target":{}}', '{"startedAt":"yesterday","target":{"kind":"node"}}']) {
      entries.set('plan.json', Buffer.from(text));
      expect(() => factsFromEntries(entries)).toThrow('is no plan of a capture');
    }
  });

  it('believe nothing of the shape of what others wrote', () => {
    const odd = [
      'null',
      '7',
      '"x"',
      '[]',
      '{}',
      '{"a":{"b":[1,2]}}',
      '',
      '\0\0\0',
      '{"items":[null,7,{"path":3}],"format":1}',
    ];
    const paths = [
      ...[
        'manifest.json',
        'node/samples.jsonl',
        'node/processes.txt',
        'node/blocked.txt',
        'node/mountinfo',
        'node/disks.txt',
      ],
      ...['node/fuse.txt', 'node/cgroups.txt', 'node/cgroups', 'node/diskstats', 'node/meminfo', 'node/pressure/io'],
      ...[
        'shim/threads-1.txt',
        'shim/goroutines.txt',
        'shim/children.txt',
        'shim/fd.txt',
        'shim/mountinfo',
        'shim/cgroup',
      ],
      ...['logs/containerd.log', 'logs/kubelet.log', 'logs/kernel.log', 'runtime/ctr-commands.jsonl'],
      ...[
        'status.json',
        'status.stat',
        'config.v2.json',
        'runc.txt',
        'runc/state.json',
        'bundle.txt',
        'cgroup.txt',
        'threads-1.txt',
      ].map(name => `containers/${CONTAINER_ID}/${name}`),
      `runtime/crictl-inspect-${CONTAINER_ID.slice(0, 12)}.txt`,
    ];
    for (const text of odd) {
      const entries = new Map([
        ...madeEntries({ entries: {} }),
        ...paths.map(path => [path, Buffer.from(text)] as const),
      ]);
      expect(diagnose(factsFromEntries(entries))).toMatchObject({ outcome: 'none', failed: [] });
    }
  });

  it('of a plan with members of the wrong kind have what is left of it', () => {
    const target = {
      kind: 'sandbox',
      sandbox: { id: 5, shims: [null, { pid: -1 }, 'x'], containers: { 0: 'x' }, pod: 'web' },
    };
    const facts = factsFromEntries(madeEntries({ target, entries: {} }));
    expect(facts.containers).toBeNull();
    expect(facts.target).toMatchObject({ name: '', podUid: null });
  });

  it('do not look into an id for a pattern', () => {
    const id = '(a+)+$'.padEnd(64, 'a');
    const sandbox = { id, containers: [{ id, kind: 'container', initPid: 5, bundle: '', runcState: '', how: '' }] };
    const facts = factsFromEntries(
      madeEntries({ sandbox, entries: { 'logs/containerd.log': `${'a'.repeat(5000)}\n` } }),
    );
    expect(facts.containers).toMatchObject([{ id, init: null }]);
  });
});
