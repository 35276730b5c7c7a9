import { newerContainerd } from './newer-containerd.ts';
import { run } from './run.ts';

/** Of Debian 12, the oldest with a CRI that kubelets still speak. What the tests expect of a containerd is measured on it. */
const USUAL = /\b1\.6\./;

let found: Promise<string | undefined> | undefined;

/**
 * The containerd of a lab that asks for none: 1.6, from Debian where the machine has a later one.
 * @returns a folder for `startContainerd({ bin })`; undefined for that of PATH, also where Debian's cannot be had
 */
export function usualContainerd(): Promise<string | undefined> {
  found ??= find();
  return found;
}

async function find(): Promise<string | undefined> {
  const version = await run('containerd', ['--version']).catch(() => '');
  if (USUAL.test(version)) return undefined;
  const binaries = await newerContainerd('bookworm');
  if ('bin' in binaries) return binaries.bin;
  process.emitWarning(`the lab uses ${version.trim()}: ${binaries.reason}`);
  return undefined;
}
