/**
 * Installs the Debian packages that the lab of the tests needs, and starts none of their services.
 * Usage: node scripts/debian-packages.ts
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ExecaError, execa } from 'execa';
import { missingPrograms, PROGRAMS } from '../test/lab/requirements.ts';

/** Takes the place of `busybox`, which has the same program, but none that runs without the machine's libraries. */
const STATIC_BUSYBOX = 'busybox-static';

const DEBIAN_PACKAGES = [
  'containerd',
  'runc',
  STATIC_BUSYBOX,
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
  'procps',
  'python3',
] as const;

/** For the tests of the page in a real browser, which are skipped without it: 90 MB, so only where that is a matter of moments. */
const BROWSER = ['chromium'] as const;
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
  const wanted = await wantedOf(packages);
  if (wanted.length === 0) return { installed: [], missing: [] };
  const reason = cannotInstall();
  if (reason !== null) return { installed: [], missing: wanted, reason };
  // Of one source among many it may fail, and the package be there all the same.
  const outdated = await failureOf(() => aptGet(['update'], UPDATE_MS));
  const known = await knownToApt(WHERE_KNOWN);
  const failed = await failureOf(() =>
    withoutServices(async () => {
      const replacing = wanted.filter(name => name === STATIC_BUSYBOX);
      const others = wanted.filter(name => name !== STATIC_BUSYBOX);
      if (replacing.length > 0) await aptGet([...INSTALL, ...replacing], INSTALL_MS);
      if (others.length > 0) await aptGet([...INSTALL, '--no-remove', ...others, ...known], INSTALL_MS);
    }),
  );
  const missing = await wantedOf(wanted);
  const installed = wanted.filter(name => !missing.includes(name));
  if (failed === null) return { installed, missing };
  return { installed, missing, reason: [failed, outdated].filter(Boolean).join('; before that ') };
}

/** Installs packages if they are downloaded in two minutes; else leaves them out and says so. Never throws. */
export async function installWhenQuick(packages: readonly string[] = BROWSER): Promise<Installation> {
  const wanted = await wantedOf(packages);
  if (wanted.length === 0) return { installed: [], missing: [] };
  const reason = cannotInstall();
  if (reason !== null) return { installed: [], missing: wanted, reason };
  const until = performance.now() + QUICK_MS;
  // Apt of a machine that has just been made knows nothing.
  if ((await knownToApt(wanted)).length < wanted.length) await failureOf(() => aptGet(['update'], QUICK_MS));
  const left = Math.max(1000, Math.round(until - performance.now()));
  // Ended in the middle of a download nothing is half installed.
  const failed = await failureOf(() => aptGet([...INSTALL, '--no-remove', '--download-only', ...wanted], left));
  if (failed !== null) return { installed: [], missing: wanted, reason: failed };
  return installDebianPackages(wanted);
}

/** Why there is no installing on this machine, for one sentence; null when there is. */
function cannotInstall(): string | null {
  if (!existsSync('/etc/debian_version')) return 'this is not Debian or one of its kin';
  return process.getuid?.() === 0 ? null : 'only root can install packages';
}

/** What is neither installed nor there from elsewhere: docker's own packages have the same programs, and nothing has to go for Debian's. */
async function wantedOf(packages: readonly string[]): Promise<string[]> {
  const installed = await installedOf(packages);
  const programs = (name: string) => Object.keys(PROGRAMS).filter(program => PROGRAMS[program] === name);
  const isThere = (name: string) =>
    name !== STATIC_BUSYBOX && programs(name).length > 0 && missingPrograms(programs(name)).length === 0;
  return packages.filter(name => !installed.has(name) && !isThere(name));
}

async function installedOf(packages: readonly string[]): Promise<ReadonlySet<string>> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg-query's
  const format = '${Package} ${db:Status-Abbrev}\n';
  const { stdout = '' } = await execa('dpkg-query', ['-W', '-f', format, ...packages], { reject: false });
  return new Set(stdout.split('\n').flatMap(line => (/ ii/.test(line) ? [line.split(' ')[0] ?? ''] : [])));
}

async function knownToApt(packages: readonly string[]): Promise<string[]> {
  const { stdout = '' } = await execa('apt-cache', ['pkgnames'], { reject: false });
  const known = new Set(stdout.split('\n'));
  return packages.filter(name => known.has(name));
}

const INSTALL = ['install', '--no-install-recommends'];
const UPDATE_MS = 5 * 60_000;
const INSTALL_MS = 15 * 60_000;

/** For as long as somebody else may hold apt's locks: the daily update of a machine that was just started. */
const LOCKED_MS = 120_000;
const LOCKED = /Could not get lock|Unable to (?:acquire|lock)/;

/** Runs apt-get; again while another has locked it, for which apt itself waits at some of its locks alone. */
async function aptGet(args: readonly string[], timeout: number): Promise<void> {
  const options = [`DPkg::Lock::Timeout=${LOCKED_MS / 1000}`, 'Acquire::Retries=2', 'Acquire::http::Timeout=20'];
  const end = performance.now() + Math.min(LOCKED_MS, timeout);
  for (;;) {
    const failed = await execa('apt-get', ['-q', '-y', ...options.flatMap(option => ['-o', option]), ...args], {
      // needrestart of Ubuntu would restart daemons of the machine.
      env: { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_SUSPEND: '1', LC_ALL: 'C.UTF-8' },
      stdin: 'ignore',
      timeout,
    }).then(
      () => null,
      (error: ExecaError) => error,
    );
    if (failed === null) return;
    if (!LOCKED.test(String(failed.stderr)) || performance.now() > end) throw failed;
    await sleep(2000);
  }
}

/** What apt complained of last, for a sentence; null when all went well. */
async function failureOf(step: () => Promise<unknown>): Promise<string | null> {
  try {
    await step();
    return null;
  } catch (error) {
    const { stderr, shortMessage, message, timedOut } = error as ExecaError;
    const said = String(stderr ?? '').match(/^E: .*$/gm) ?? [];
    if (timedOut === true || said.length === 0) return (shortMessage ?? message).split('\n')[0] ?? '';
    return said.slice(0, 2).join(' ');
  }
}

const POLICY = '/usr/sbin/policy-rc.d';
const NO_SERVICES = '#!/bin/sh\n# Written while stallcap installs packages for its tests\nexit 101\n';

/** Package scripts ask /usr/sbin/policy-rc.d before they start a daemon; 101 forbids it (invoke-rc.d(8)). */
async function withoutServices(install: () => Promise<unknown>): Promise<void> {
  // Ours as well: one that was left by a run that was killed.
  const ours = !existsSync(POLICY) || readFileSync(POLICY, 'utf8') === NO_SERVICES;
  if (ours) writeFileSync(POLICY, NO_SERVICES, { mode: 0o755 });
  try {
    await install();
  } finally {
    if (ours) rmSync(POLICY, { force: true });
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
