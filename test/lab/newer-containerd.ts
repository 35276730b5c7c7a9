import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { exclusive } from './exclusive.ts';
import { openFolder } from './folder.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'stallcap-lab', 'containerd-trixie');

/** A folder for `startContainerd({ bin })`, or why there is none, in one sentence. */
export type Binaries = { readonly bin: string } | { readonly reason: string };

/**
 * containerd, ctr and shims of Debian 13 (1.7.24), unpacked beside the system and never installed. Downloaded once,
 * with sources and state of apt's own; the machine's apt is left as it is.
 */
export async function newerContainerd(): Promise<Binaries> {
  const bin = join(CACHE, 'usr', 'bin');
  await using _ = await exclusive('stallcap-lab-newer-containerd', 300_000);
  if (existsSync(join(bin, 'containerd'))) return { bin };
  if (!existsSync(KEYRING))
    return { reason: "containerd of Debian 13 needs apt and Debian's keyring, which are not here" };
  await using folder = await openFolder();
  try {
    await fetchAndUnpack(folder.path);
    return { bin };
  } catch (error) {
    return { reason: `containerd of Debian 13 could not be had: ${(error as Error).message.split('\n')[0]}` };
  }
}

/** Where this machine gets Debian's own packages from. */
async function mirror(): Promise<string> {
  const format = ['--format', '$(LABEL)|$(REPO_URI)', 'Created-By: Packages'];
  const { stdout } = await execa('apt-get', ['indextargets', ...format]);
  const uri = /^Debian\|(\S+)$/m.exec(stdout)?.[1];
  if (uri === undefined)
    throw new Error('apt knows no archive of Debian (apt-get update was not run, or it has other sources)');
  return uri;
}

async function fetchAndUnpack(work: string): Promise<void> {
  const at = (name: string) => join(work, name);
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'parts', 'root']) {
    mkdirSync(at(name), { recursive: true });
  }
  writeFileSync(at('status'), '');
  writeFileSync(at('sources.list'), `deb [signed-by=${KEYRING}] ${await mirror()} trixie main\n`);
  const places = {
    'Dir::Etc::sourcelist': at('sources.list'),
    'Dir::Etc::sourceparts': at('parts'),
    'Dir::State': at('state'),
    'Dir::State::status': at('status'),
    'Dir::Cache': at('cache'),
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
  };
  const options = Object.entries(places).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  const aptGet = (...args: string[]) => execa('apt-get', ['-q', ...options, ...args], { cwd: work, timeout: 180_000 });
  await aptGet('update');
  await aptGet('download', 'containerd');
  const archive = readdirSync(work).find(name => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get download left no package');
  await execa('dpkg', ['-x', at(archive), at('root')]);
  // Into place in one step, beside it first: the temporary directory may be another filesystem.
  mkdirSync(dirname(CACHE), { recursive: true });
  const beside = `${CACHE}.new`;
  rmSync(beside, { recursive: true, force: true });
  await execa('cp', ['-r', at('root'), beside]);
  rmSync(CACHE, { recursive: true, force: true });
  renameSync(beside, CACHE);
}
