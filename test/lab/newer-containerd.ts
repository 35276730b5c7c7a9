import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { exclusive } from './exclusive.ts';
import { openFolder } from './folder.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const CACHES = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'stallcap-lab');

/**
 * bookworm is Debian 12 (containerd 1.6.20), trixie Debian 13 (1.7.24); forky the one after it (2.1.5 or later, of which shims wait
 * 10 s for the end of output).
 */
export type Release = 'bookworm' | 'trixie' | 'forky';

/** A folder for `startContainerd({ bin })`, or why there is none, in one sentence. */
export type Binaries = { readonly bin: string } | { readonly reason: string };

/**
 * containerd, ctr and shims of another Debian, unpacked beside the system and never installed. Downloaded once, with sources and
 * state of apt's own; the machine's apt is left as it is.
 */
export async function newerContainerd(release: Release = 'trixie'): Promise<Binaries> {
  const cache = join(CACHES, `containerd-${release}`);
  const bin = join(cache, 'usr', 'bin');
  await using _ = await exclusive(`stallcap-lab-newer-containerd-${release}`, 300_000);
  if (existsSync(join(bin, 'containerd'))) return { bin };
  const failed = failedLately(`${cache}.failed`);
  if (failed !== null) return { reason: failed };
  if (!existsSync(KEYRING))
    return { reason: `containerd of Debian ${release} needs apt and Debian's keyring, which are not here` };
  await using folder = await openFolder();
  try {
    await fetchAndUnpack(folder.path, release, cache);
    return { bin };
  } catch (error) {
    const reason = `containerd of Debian ${release} could not be had: ${whyOf(error as Error)}`;
    mkdirSync(CACHES, { recursive: true });
    writeFileSync(`${cache}.failed`, reason);
    return { reason };
  }
}

/** Twenty tests ask for it, and without a network each would wait for the same timeouts. */
const FAILED_MS = 15 * 60_000;

function failedLately(note: string): string | null {
  const at = statSync(note, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Math.abs(Date.now() - at) < FAILED_MS ? readFileSync(note, 'utf8') : null;
}

/** Of apt its own complaint, else the first line. */
const whyOf = ({ message }: Error): string => /^E: .*$/m.exec(message)?.[0] ?? message.split('\n')[0] ?? '';

/** Where this machine gets Debian's own packages from. */
async function mirror(): Promise<string> {
  const format = ['--format', '$(LABEL)|$(REPO_URI)', 'Created-By: Packages'];
  const { stdout } = await execa('apt-get', ['indextargets', ...format]);
  const uri = /^Debian\|(\S+)$/m.exec(stdout)?.[1];
  if (uri === undefined)
    throw new Error('apt knows no archive of Debian (apt-get update was not run, or it has other sources)');
  return uri;
}

async function fetchAndUnpack(work: string, release: Release, cache: string): Promise<void> {
  const at = (name: string) => join(work, name);
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'parts', 'root']) {
    mkdirSync(at(name), { recursive: true });
  }
  writeFileSync(at('status'), '');
  writeFileSync(at('sources.list'), `deb [signed-by=${KEYRING}] ${await mirror()} ${release} main\n`);
  const places = {
    'Dir::Etc::sourcelist': at('sources.list'),
    'Dir::Etc::sourceparts': at('parts'),
    'Dir::State': at('state'),
    'Dir::State::status': at('status'),
    'Dir::Cache': at('cache'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': '20',
  };
  const options = Object.entries(places).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  const aptGet = (...args: string[]) => execa('apt-get', ['-q', ...options, ...args], { cwd: work, timeout: 180_000 });
  await aptGet('update');
  await aptGet('download', 'containerd');
  const archive = readdirSync(work).find(name => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get download left no package');
  await execa('dpkg', ['-x', at(archive), at('root')]);
  // Into place in one step, beside it first: the temporary directory may be another filesystem.
  mkdirSync(dirname(cache), { recursive: true });
  const beside = `${cache}.new`;
  rmSync(beside, { recursive: true, force: true });
  await execa('cp', ['-r', at('root'), beside]);
  rmSync(cache, { recursive: true, force: true });
  renameSync(beside, cache);
}
