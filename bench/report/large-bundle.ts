import { createHash } from 'node:crypto';
import { packEntry } from '../../src/bundle/pack-entry.ts';
import { type PackedPiece, PackedStream } from '../../src/bundle/packed-stream.ts';
import { entriesOf } from '../../test/diagnosis/fixture-bundle.ts';

const FOLDER = 'stallcap-node-1-web-0-20261129T114230Z';
/** A real one, to which much is added: its logs, its table of processes, a dump with many goroutines. */
const REAL = 'state-behind-delete';
const MiB = 2 ** 20;

/** The bytes of a sealed bundle with this much in it. */
export async function* largeBundle(mib: number, random: boolean): AsyncGenerator<Buffer> {
  const out: Buffer[] = [];
  const stream = new PackedStream({
    write: (bytes: Buffer) => void out.push(bytes),
  } as unknown as ConstructorParameters<typeof PackedStream>[0]);
  const real = new Map(entriesOf(REAL));
  const add = async (path: string, body: Buffer) =>
    stream.append((await packEntry({ folder: FOLDER, path, modified: new Date(0) }, body)) as PackedPiece);
  const last = ['manifest.json'];
  await add('plan.json', real.get('plan.json') as Buffer);
  for (const [path, body] of real)
    if (path !== 'plan.json' && !last.includes(path) && !path.startsWith('logs/')) await add(path, body);
  yield* out.splice(0);
  const parts = { 'logs/containerd.log': 0.5, 'logs/kubelet.log': 0.3, 'logs/docker.log': 0.1, 'logs/kernel.log': 0.1 };
  for (const [path, share] of Object.entries(parts)) {
    const own = real.get(path) ?? Buffer.alloc(0);
    await add(path, Buffer.concat([lines(path, Math.floor(mib * MiB * share), random), own]));
    yield* out.splice(0);
  }
  for (const path of last) await add(path, real.get(path) as Buffer);
  await stream.finish();
  yield* out.splice(0);
}

/** What a loaded node writes: most lines about other pods, every tenth a failure that counts. */
function lines(path: string, bytes: number, random: boolean): Buffer {
  const body = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (let n = 0; ; n += 1) {
    const id = createHash('sha256')
      .update(String(random ? n : n % 200))
      .digest('hex');
    const more = random ? createHash('sha512').update(id).digest('base64') : 'a word that is always there';
    const line = lineOf(path, n, id, more);
    if (at + line.length > bytes) break;
    at += body.write(line, at, 'latin1');
  }
  return body.subarray(0, at);
}

function lineOf(path: string, n: number, id: string, more: string): string {
  const second = new Date(Date.UTC(2026, 10, 29, 10, 0, 0) + n).toISOString();
  if (path.endsWith('kernel.log')) return `6,${n},${n * 1000},-;eth0: link ${id} ${more}\n`;
  if (path.endsWith('kubelet.log')) {
    const clock = `${second.slice(5, 7)}${second.slice(8, 10)} ${second.slice(11, 23)}000`;
    return `E${clock}  812 remote_runtime.go:432] "ContainerStatus from runtime service failed" err="rpc error: code = DeadlineExceeded desc = ${more}" containerID="${id}"\n`;
  }
  const said =
    n % 10 === 0
      ? `level=error msg="get state for ${id}" error="context deadline exceeded: unknown"`
      : `level=info msg="StopContainer for \\"${id}\\" ${more}"`;
  return `time="${second}" ${said}\n`;
}
