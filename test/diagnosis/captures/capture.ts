/**
 * Makes the fixtures in test/fixtures/bundles again: `node test/diagnosis/captures/capture.ts KIND…`. Each is a stall of the
 * lab, a grab of it, and what `trim.ts` leaves of that.
 *
 * `capture.ts NAME BUNDLE LAB_FOLDER`: of a grab that was made elsewhere, as on a machine with another kernel.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { KINDS, type Kind, settle } from './kinds.ts';
import { RUNTIME_KINDS } from './runtime-kinds.ts';
import { type Cut, trimmed } from './trim.ts';

const DEVICES = /^ *(?:7|8|253|254|259) /;

const ALL = { ...KINDS, ...RUNTIME_KINDS };

const ROOT = join(import.meta.dirname, '../../..');

async function capture(name: string, kind: Kind): Promise<void> {
  const { make, processes, blocked, kernel, log, keep, drop, args: more = [] } = kind;
  await using stall = await make();
  await settle(kind.settleMs);
  const place = mkdtempSync(join(tmpdir(), 'stallcap-capture-'));
  try {
    const target = stall.pod?.id ?? '--node';
    const args = [join(ROOT, 'bin/main.ts'), 'grab', target, '--skip', 'ps', '-o', `${place}/`, ...more];
    const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0 && status !== 3) throw new Error(`grab ended with ${status}`);
    const [bundle = ''] = readdirSync(place);
    const own = new RegExp([stall.folder.name, stall.pod?.id, processes].filter(Boolean).join('|'));
    writeFixture(name, join(place, bundle), {
      ...{ folder: stall.folder.path, processes: own, devices: DEVICES },
      ...(blocked === undefined ? {} : { blocked }),
      ...(kernel === undefined ? {} : { kernel }),
      ...(log === undefined ? {} : { log }),
      ...(keep === undefined ? {} : { keep }),
      ...(drop === undefined ? {} : { drop }),
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function writeFixture(name: string, bundle: string, cut: Cut): void {
  const fixture = join(ROOT, 'test/fixtures/bundles', name);
  const place = mkdtempSync(join(tmpdir(), 'stallcap-unpacked-'));
  try {
    execFileSync('tar', ['-xzf', bundle, '-C', place, '--strip-components=1']);
    rmSync(fixture, { recursive: true, force: true });
    for (const [path, text] of trimmed(read(place), cut)) {
      mkdirSync(dirname(join(fixture, path)), { recursive: true });
      writeFileSync(join(fixture, path), text.replaceAll(process.env['CONTAINERD_BIN'] ?? '/usr/bin', '/usr/bin'));
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function read(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

const [, , first = '', bundle, folder] = process.argv;
const elsewhere = bundle?.endsWith('.tar.gz') === true && folder !== undefined;
if (elsewhere) writeFixture(first, bundle, { folder, processes: new RegExp(basename(folder)), devices: DEVICES });
for (const name of elsewhere ? [] : process.argv.slice(2)) {
  const kind = ALL[name];
  if (kind === undefined) throw new RangeError(`no such kind: ${name}; there are ${Object.keys(ALL).join(', ')}`);
  await capture(name, kind);
}
