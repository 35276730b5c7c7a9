import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/bundle/evidence.ts';
import { ask, type Interview } from '../../src/collectors/ask.ts';
import { createHost, type LinuxHost } from '../../src/host/linux.ts';
import { captureOn } from './capture-on.ts';

/** A client that does as its first argument says, run for real in a probe. */
const CLIENT = `#!/bin/sh
case $1 in
  version) echo "client 1.0"; echo "a warning" >&2 ;;
  ps) echo "CONTAINER  STATE" ;;
  fail) echo "rpc error: code = Unavailable" >&2; exit 3 ;;
  hang) exec sleep 60 ;;
  give-up) echo 'ctr: failed to dial "/run/c.sock": context deadline exceeded: connection error' >&2; exit 1 ;;
  secret) echo s3cret ;;
esac
`;

let folder: string;
let host: LinuxHost;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stallcap-ask-'));
  writeFileSync(join(folder, 'client'), CLIENT);
  chmodSync(join(folder, 'client'), 0o755);
  host = createHost();
});

afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true });
});

async function answers(interviews: readonly Interview[], remainingMs = 8000): Promise<ReadonlyMap<string, Evidence>> {
  const brought = new Map<string, Evidence>();
  for await (const evidence of ask(captureOn(host, { remainingMs }), interviews)) brought.set(evidence.path, evidence);
  return brought;
}

function interview(...words: readonly string[]): Interview {
  const questions = words.map(word => ({ what: word, args: [word] }));
  return { tool: 'client', programs: [['no-such-client-anywhere'], [join(folder, 'client')]], suffix: '', questions };
}

function logOf(brought: ReadonlyMap<string, Evidence>): readonly Record<string, unknown>[] {
  const lines = brought.get('runtime/client-commands.jsonl')?.body.toString().trim().split('\n') ?? [];
  return lines.map(text => JSON.parse(text) as Record<string, unknown>);
}

describe('asking a client', () => {
  it('brings what it printed, and beside it exit code, duration and complaints', async () => {
    const brought = await answers([interview('version', 'ps')]);
    expect(brought.get('runtime/client-version.txt')).toMatchObject({
      outcome: 'ok',
      body: Buffer.from('client 1.0\n'),
    });
    expect(brought.get('runtime/client-ps.txt')?.body.toString()).toBe('CONTAINER  STATE\n');
    expect(logOf(brought)).toMatchObject([
      { argv: [join(folder, 'client'), 'version'], outcome: 'ok', exitCode: 0, stdoutBytes: 11, stderr: 'a warning\n' },
      { argv: [join(folder, 'client'), 'ps'], outcome: 'ok', exitCode: 0 },
    ]);
    for (const { durationMs } of logOf(brought)) expect(durationMs).toBeGreaterThan(0);
  });

  it('brings its complaint when that is all it said, and goes on', async () => {
    const brought = await answers([interview('fail', 'ps')]);
    const failed = brought.get('runtime/client-fail.txt');
    expect(failed).toMatchObject({ outcome: 'error', body: Buffer.from('rpc error: code = Unavailable\n') });
    expect(failed?.detail).toMatch(/^exit code 3 after \d+ ms: .*rpc error: code = Unavailable$/);
    expect(brought.get('runtime/client-ps.txt')).toMatchObject({ outcome: 'ok' });
  });

  it('asks no more once one question hung, and says so of the rest', async () => {
    const brought = await answers([interview('version', 'hang', 'ps', 'version')]);
    expect(brought.get('runtime/client-hang.txt')).toMatchObject({ outcome: 'timeout' });
    expect(brought.get('runtime/client-ps.txt')).toMatchObject({ outcome: 'timeout' });
    expect(brought.get('runtime/client-ps.txt')?.detail).toMatch(/^not asked: .*client hang had no answer before$/);
    expect(logOf(brought).map(({ outcome }) => outcome)).toEqual(['ok', 'timeout']);
  });

  it('takes it for a hang when the client gave up before', async () => {
    const brought = await answers([interview('give-up', 'ps')]);
    expect(brought.get('runtime/client-give-up.txt')).toMatchObject({ outcome: 'error' });
    expect(brought.get('runtime/client-ps.txt')?.detail).toMatch(/^not asked: .*client give-up had no answer before$/);
  });

  it('is over at once when it is not installed', async () => {
    const brought = await answers([
      { ...interview('version', 'ps'), programs: [['no-such-client-anywhere'], ['nor-this']] },
    ]);
    expect([...brought.keys()]).toEqual(['runtime/client-version.txt', 'runtime/client-commands.jsonl']);
    expect(brought.get('runtime/client-version.txt')).toMatchObject({
      outcome: 'absent',
      source: 'no-such-client-anywhere version',
      detail: 'client is not installed',
    });
  });

  it('keeps the answers of two daemons apart', async () => {
    const brought = await answers([interview('ps'), { ...interview('ps'), suffix: '-2' }]);
    expect([...brought.keys()]).toEqual([
      'runtime/client-ps.txt',
      'runtime/client-commands.jsonl',
      'runtime/client-ps-2.txt',
      'runtime/client-commands-2.jsonl',
    ]);
  });

  it('hands an answer on only after its secrets were taken out', async () => {
    const redact = (answer: Evidence) => ({ ...answer, body: Buffer.from('***') });
    const questions = [{ what: 'secret', args: ['secret'], redact }];
    const brought = await answers([{ ...interview(), questions }]);
    expect([...brought.values()].map(({ body }) => body.toString()).join('')).not.toContain('s3cret');
  });
});
