import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { STALLCAP } from '../../build/dist.ts';
import { type Containerd, startContainerd } from '../containerd.ts';
import type { Pod } from '../pod.ts';
import { labUnavailable } from '../requirements.ts';
import { openBundle } from './bundle.ts';
import { closingWords } from './grab.ts';
import { expectValid } from './schema.ts';
import { type RunOptions, stallcap } from './stallcap.ts';

/** Anything that a terminal would obey, and of that what sets colours. */
const ESCAPE = new RegExp(String.fromCharCode(27));
const COLOUR = new RegExp(`${ESCAPE.source}\\[[\\d;]*m`);

/** One pod is grabbed many times in a row. */
const QUICK = ['--samples', '1', '--signal-again'];

describe.skipIf(labUnavailable())('what a grab writes where', () => {
  let containerd: Containerd;
  let pod: Pod;
  beforeAll(async () => {
    containerd = await startContainerd();
    pod = await containerd.runPod({ name: `cart-${process.pid}`, namespace: 'shop' });
    await pod.addContainer({ name: 'app' });
  });
  afterAll(() => containerd[Symbol.asyncDispose]());

  /** In a folder of its own for each attempt: no bundle is written over another. */
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(containerd.folder.path, 'streams-'));
  });
  const at = (name: string) => join(folder, name);
  const grab = (args: readonly string[], options?: RunOptions) =>
    stallcap(containerd.folder, ['grab', pod.id, ...QUICK, ...args], options);
  /** On a terminal of its own, as `script` makes it: all three streams. `command` is sh's; $STALLCAP is the executable. */
  const onTerminal = (command: string, env: Readonly<Record<string, string>> = {}) =>
    stallcap(containerd.folder, [], {
      prefix: ['sh', '-c', `exec script -qec '${command}' /dev/null`],
      env: { STALLCAP, TERM: 'xterm-256color', ...env },
    });

  it('sends a bundle through a pipe that tar reads without a word, while the terminal shows the progress', async () => {
    const pipe = `"$STALLCAP" grab ${pod.id} ${QUICK.join(' ')} -o - | tar tzf - >${at('names')} 2>${at('complaints')}`;
    const run = await onTerminal(pipe);
    expect(run).toMatchObject({ exit: 0, left: [] });
    expect(readFileSync(at('complaints'), 'utf8')).toBe('');
    const names = readFileSync(at('names'), 'utf8').trimEnd().split('\n');
    expect(names[0]).toMatch(/\/plan\.json$/);
    expect(names.at(-1)).toMatch(/\/manifest\.json$/);
    const terminal = run.stdout.toString();
    expect(terminal).toMatch(ESCAPE);
    expect(terminal).toContain('Goroutine dump and logs');
    expect(terminal).toContain('Bundle: standard output');
  });

  it('has the bundle and nothing else on stdout with -o -, and plain lines on stderr', async () => {
    const run = await grab(['-o', '-']);
    expect(run).toMatchObject({ exit: 0, left: [] });
    const bundle = await openBundle(run.stdout);
    expect(bundle.manifest.capture.outcome).toBe('complete');
    expect(run.stderr).not.toMatch(ESCAPE);
    expect(run.stderr).toMatch(/^ +\d+\.\d s {2}First look/m);
    expect(closingWords(run.stderr).at(-1)).toMatch(/^Bundle: standard output/);
  });

  it('refuses to write a bundle onto a terminal, before it has touched anybody', async () => {
    const before = containerd.log().length;
    const run = await onTerminal(`"$STALLCAP" grab ${pod.id} -o -`);
    expect(run).toMatchObject({ exit: 2, left: [] });
    expect(run.stdout.toString()).toMatch(/stdout is a terminal/);
    expect(containerd.log().slice(before)).not.toContain('goroutine stack dump');
  });

  it('has one JSON document on stdout with --json, that is what the schema says', async () => {
    const run = await grab(['--json', '-o', at('with-json.tar.gz')]);
    expect(run.exit).toBe(0);
    const document = JSON.parse(run.stdout.toString());
    expectValid('grab', document);
    expect(document).toMatchObject({
      bundle: at('with-json.tar.gz'),
      outcome: 'complete',
      exitCode: 0,
      target: { kind: 'sandbox', id: pod.id, namespace: 'shop', pod: pod.name, uid: pod.uid, shimPids: [pod.shimPid] },
      blocked: [],
      missing: [],
      signals: [{ pid: pod.shimPid, outcome: 'sent', dump: 'complete' }],
      abandoned: [],
    });
    expect(document.firstStackMs).toBeGreaterThan(0);
    expect(document.items).toBe((await openBundle(document.bundle)).manifest.items.length);
  });

  it('has an error as JSON too, with the same exit code', async () => {
    for (const [args, exit, code] of [
      [['grab', 'no-such-pod-anywhere', '--json'], 4, 'no-such-target'],
      [['grab', pod.id, '--json', '-o', '-'], 2, 'stdout-taken'],
      [['grab', '--json', '--nonsense'], 2, 'unknown-flag'],
    ] as const) {
      const run = await stallcap(containerd.folder, args);
      const { error } = JSON.parse(run.stdout.toString());
      expect({ exit: run.exit, code: error.code, said: error.exit }).toEqual({ exit, code, said: exit });
      expect(run.stderr).toContain(error.message);
      expect(run.stderr).not.toMatch(ESCAPE);
    }
  });

  it('says nothing on stderr with --quiet, and the path on stdout all the same', async () => {
    const run = await grab(['--quiet', '-o', at('quiet.tar.gz')]);
    expect({ exit: run.exit, stdout: run.stdout.toString(), stderr: run.stderr }).toEqual({
      exit: 0,
      stdout: `${at('quiet.tar.gz')}\n`,
      stderr: '',
    });
  });

  it('has colours on a terminal, unless NO_COLOR is set', async () => {
    const wrong = `"$STALLCAP" grab no-such-pod-anywhere`;
    expect((await onTerminal(wrong)).stdout.toString()).toMatch(COLOUR);
    expect((await onTerminal(wrong, { NO_COLOR: '1' })).stdout.toString()).not.toMatch(COLOUR);
    const right = `"$STALLCAP" grab ${pod.id} ${QUICK.join(' ')} -o ${at('plain.tar.gz')}`;
    const run = await onTerminal(right, { NO_COLOR: '1' });
    expect(run.exit).toBe(0);
    expect(run.stdout.toString()).not.toMatch(COLOUR);
    expect(run.stdout.toString()).toContain(`Bundle: ${at('plain.tar.gz')}`);
  });
});
