/**
 * Installs the Debian packages that the lab of the tests needs, and starts none of their services.
 * Usage: node scripts/debian-packages.ts
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { execa } from 'execa';

export const DEBIAN_PACKAGES = [
  'containerd',
  'runc',
  'busybox-static',
  'bindfs',
  'strace',
  'sudo',
  'docker.io',
  'e2fsprogs',
  'fuse3',
  'systemd',
  'gcc',
  'libc6-dev',
  'util-linux',
] as const;

/** For the tests of the page in a real browser, which are skipped without it: 90 MB, so only where that is a matter of moments. */
export const BROWSER = ['chromium'] as const;
const QUICK_MS = 120_000;

/** Packages of later releases alone: Debian 13 took the docker command out of docker.io. */
const WHERE_KNOWN = ['docker-cli'];

export interface Installation {
  /** Packages that were installed by this call. */
  readonly installed: readonly string[];
  /** Packages that are not installed now. */
  readonly missing: readonly string[];
  /** Why some are missing, one sentence. */
  readonly reason?: string;
}

/** Installs what is missing of `packages`, where this is root on Debian; else says why not. Never throws. */
export async function installDebianPackages(packages: readonly string[] = DEBIAN_PACKAGES): Promise<Installation> {
  if (!existsSync('/etc/debian_version')) {
    return { installed: [], missing: packages, reason: 'this is not Debian or one of its kin' };
  }
  const wanted = await notInstalled(packages);
  if (wanted.length === 0) return { installed: [], missing: [] };
  if (process.getuid?.() !== 0) return { installed: [], missing: wanted, reason: 'only root can install packages' };
  let reason: string | undefined;
  try {
    await aptGet(['update']);
    const known = await knownToApt(WHERE_KNOWN);
    await withoutServices(() => aptGet(['install', '--no-install-recommends', ...wanted, ...known]));
  } catch (error) {
    reason = `apt-get failed: ${(error as Error).message.split('\n').slice(0, 4).join(' ')}`;
  }
  const missing = await notInstalled(wanted);
  const installed = wanted.filter(name => !missing.includes(name));
  return reason === undefined ? { installed, missing } : { installed, missing, reason };
}

/** Installs packages if they are downloaded in two minutes; else leaves them out and says so. Never throws. */
export async function installWhenQuick(packages: readonly string[] = BROWSER): Promise<Installation> {
  if (!existsSync('/etc/debian_version')) return { installed: [], missing: packages, reason: 'this is not Debian' };
  const wanted = await notInstalled(packages);
  if (wanted.length === 0) return { installed: [], missing: [] };
  if (process.getuid?.() !== 0) return { installed: [], missing: wanted, reason: 'only root can install packages' };
  try {
    // Ended in the middle of a download nothing is half installed.
    await aptGet(['install', '--no-install-recommends', '--download-only', ...wanted], QUICK_MS);
  } catch {
    return { installed: [], missing: wanted, reason: `not downloaded within ${QUICK_MS / 1000} s` };
  }
  return installDebianPackages(wanted);
}

async function notInstalled(packages: readonly string[]): Promise<string[]> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg-query's
  const format = '${Package} ${db:Status-Abbrev}\n';
  const { stdout } = await execa('dpkg-query', ['-W', '-f', format, ...packages], { reject: false });
  const installed = new Set(stdout.split('\n').flatMap(line => (/ ii/.test(line) ? [line.split(' ')[0]] : [])));
  return packages.filter(name => !installed.has(name));
}

async function knownToApt(packages: readonly string[]): Promise<string[]> {
  const { stdout } = await execa('apt-cache', ['pkgnames'], { reject: false });
  return packages.filter(name => stdout.split('\n').includes(name));
}

const aptGet = (args: readonly string[], timeout = 15 * 60_000) =>
  execa('apt-get', ['-q', '-y', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    stdin: 'ignore',
    timeout,
  });

/** Package scripts ask /usr/sbin/policy-rc.d before they start a daemon; 101 forbids it (invoke-rc.d(8)). */
async function withoutServices(install: () => Promise<unknown>): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await install();
  } finally {
    if (ours) rmSync(policy, { force: true });
  }
}

if (import.meta.main) {
  const { installed, missing, reason } = await installDebianPackages();
  if (installed.length > 0) console.log(`installed: ${installed.join(' ')}`);
  if (missing.length > 0)
    console.log(`not installed: ${missing.join(' ')}${reason === undefined ? '' : ` (${reason})`}`);
  if (installed.length + missing.length === 0) console.log('every package that the lab needs is installed');
  if (missing.length > 0) process.exitCode = 1;
}
