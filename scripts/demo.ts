/**
 * `npm run demo`: makes a real stall, grabs it, verifies the bundle, shows what is in it, and takes everything away again.
 * Needs root. Installs the Debian packages that are missing, and builds dist/stallcap when it is missing or older than its sources.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIN_STALL_MS } from '../src/diagnosis/rule.ts';
import { leftovers } from '../test/lab/leftovers.ts';
import { podsUnavailable } from '../test/lab/requirements.ts';
import { isCurrent } from './build/is-current.ts';
import { DIST, NODE, ROOT } from './build/paths.ts';
import { installDebianPackages } from './debian-packages.ts';
import { chooseStall, type StuckPod } from './demo/make-stall.ts';
import { exhibits } from './demo/show-evidence.ts';
import { stopSignal } from './demo/stop-signal.ts';

const STALLCAP = `${DIST}/stallcap`;

const stop = stopSignal();
process.exitCode = await demo().then(
  () => 0,
  (error: Error) => {
    if (stop.cause === null) console.error(`\nThe demo failed: ${error.message}`);
    else console.error(`\nStopped by ${stop.cause}; everything is taken away again.`);
    return stop.cause === null ? 1 : 130;
  },
);

async function demo(): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new Error('it mounts a disk, runs pods and reads kernel stacks, so it needs root: sudo npm run demo');
  }
  await prepare();
  const { words, make } = chooseStall();
  heading('A pod gets stuck');
  console.log(words);
  const making = make();
  try {
    const stuck = await stop.unless(making);
    const { pod, initPid, thread } = stuck;
    console.log(
      `\nDone: process ${initPid} is gone, thread ${thread.tid} of shim ${pod.shimPid} is in umount2, the pod hangs in Terminating.`,
    );
    console.log(`Nothing is called a stall in its first ${MIN_STALL_MS / 1000} seconds: a moment more.`);
    // Twice that: ages are only as good as the clocks of the CPUs.
    await stop.unless(sleep(2 * MIN_STALL_MS));
    await capture(stuck);
  } finally {
    heading('Taking it all away again');
    // Also when it was stopped half way: what is being made has to be there before it can be taken away.
    await making.then(end, () => undefined);
  }
}

async function end(stuck: StuckPod): Promise<void> {
  await stuck[Symbol.asyncDispose]();
  const left = leftovers(stuck.folder);
  if (left.length > 0) throw new Error(`of the stall is left: ${left.join(', ')}`);
  console.log(
    'No process, mount or loop device of it is left, and no file but the time of its signal in /run/stallcap.',
  );
}

async function prepare(): Promise<void> {
  const { installed, missing, reason } = await stop.unless(installDebianPackages());
  if (installed.length > 0) console.log(`Installed: ${installed.join(' ')}`);
  if (missing.length > 0) console.log(`Not installed: ${missing.join(' ')} (${reason ?? 'unknown to apt'})`);
  const unavailable = podsUnavailable();
  if (unavailable !== null) throw new Error(unavailable);
  if (isCurrent()) return;
  console.log('Building dist/stallcap, which takes some 20 seconds.');
  const built = await run(NODE, [join(ROOT, 'scripts/build.ts')], 'quiet');
  if (built.exit !== 0) throw new Error(`the build ended with ${built.exit}: npm run build`);
}

/** Grab, verify, and what is in the bundle. */
async function capture(stuck: StuckPod): Promise<void> {
  const out = mkdtempSync(join(tmpdir(), 'stallcap-demo-'));
  try {
    const grabbed = await stallcap('grab', stuck.pod.id.slice(0, 12), '-o', `${out}/`);
    // 3: the bundle lacks something, and says what; it is a bundle all the same.
    if (grabbed.exit !== 0 && grabbed.exit !== 3) throw new Error(`the grab ended with ${grabbed.exit}`);
    const file = grabbed.stdout.trimEnd();
    const verified = await stallcap('verify', file);
    if (verified.exit !== 0) throw new Error(`the bundle is not whole: verify ended with ${verified.exit}`);
    heading('What is in the bundle');
    for (const { says, entry, lines } of await stop.unless(exhibits(file, stuck))) {
      console.log(`\n${says} (${entry})`);
      for (const line of lines) console.log(`    ${line}`);
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

async function stallcap(...args: readonly string[]) {
  heading(`stallcap ${args.join(' ')}`);
  return run(STALLCAP, args, 'shown');
}

/** Runs a program to its end, also when it is told to come to one; its stderr goes to ours. */
async function run(program: string, args: readonly string[], output: 'shown' | 'quiet') {
  const { signal } = stop;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], signal });
  const { promise: closed, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  // That it was told to stop, which it does in its own time; anything else shows in its exit code.
  child.on('error', () => undefined);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    if (output === 'shown') process.stdout.write(chunk);
  });
  const exit = await closed;
  signal.throwIfAborted();
  return { exit, stdout };
}

function heading(text: string): void {
  console.log(`\n── ${text}`);
}
