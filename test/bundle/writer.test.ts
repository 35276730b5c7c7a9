import { createHash } from 'node:crypto';
import { constants, gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { closeBundle, evidence, logLines, MiB, makeBundle, noise, ORIGIN, openBundle } from './made/bundle.ts';
import { FOLDER } from './made/documents.ts';

interface Entry {
  readonly name: string;
  readonly mode: number | undefined;
  readonly comment: string | undefined;
  readonly body: Buffer;
}

/** Read with a program of others: tar-stream. */
async function entriesOf(file: Buffer): Promise<Entry[]> {
  const tar = extract();
  tar.end(gunzipSync(file, { finishFlush: constants.Z_SYNC_FLUSH }));
  const entries: Entry[] = [];
  for await (const entry of tar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    const { name, mode } = entry.header;
    const { pax } = entry.header as { pax?: { comment?: string } };
    entries.push({ name, mode, comment: pax?.comment, body: Buffer.concat(chunks) });
  }
  return entries;
}

describe('the bundle writer', () => {
  it('takes back the memory of a log when it is packed, and of nothing else', async () => {
    const open = openBundle();
    const [log, other] = [evidence('logs/large.log', noise(2 * MiB)), evidence('large.txt', noise(2 * MiB))];
    for (const given of [log, other]) {
      expect(await open.writer.add(given, ORIGIN)).toMatchObject({ bytes: 2 * MiB, outcome: 'ok' });
    }
    expect([log.body.length, other.body.length]).toEqual([0, 2 * MiB]);
    expect((await closeBundle(open)).closed.manifest.items.length).toBeGreaterThan(2);
  });

  it('writes the plan first, the manifest last, all in one folder, 0600, each with its hash', async () => {
    const { file } = await makeBundle([evidence('shim/threads-1.txt', 'x\n'), evidence('node/meminfo', 'y\n')]);
    const entries = await entriesOf(file);
    const names = ['plan.json', 'shim/threads-1.txt', 'node/meminfo', 'SUMMARY.md', 'manifest.json'];
    expect(entries.map(({ name }) => name)).toEqual(names.map(name => `${FOLDER}/${name}`));
    for (const entry of entries) {
      expect(entry.mode).toBe(0o600);
      expect(entry.comment).toBe(createHash('sha256').update(entry.body).digest('hex'));
    }
  });

  it('lists every other entry in the manifest, in order, as it stands in the bundle', async () => {
    const { file, closed } = await makeBundle([
      evidence('a.txt', 'one'),
      evidence('b.txt', '', { outcome: 'empty' }),
      evidence('c.txt', 'half', { outcome: 'timeout', detail: 'hung after 4 bytes' }),
    ]);
    const entries = (await entriesOf(file)).slice(0, -1);
    const { items } = closed.manifest;
    expect(items.map(({ path, bytes, sha256 }) => [`${FOLDER}/${path}`, bytes, sha256])).toEqual(
      entries.map(({ name, body, comment }) => [name, body.length, comment]),
    );
    expect(items.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'empty', 'timeout', 'ok']);
    expect(items[3]).toMatchObject({ detail: 'hung after 4 bytes', ...ORIGIN });
  });

  it('keeps the order of arrival, whatever the size of what came before', async () => {
    const open = openBundle();
    const added = [
      open.writer.add(evidence('logs/large.log', noise(2 * MiB)), ORIGIN),
      open.writer.add(evidence('small.txt', 'x'), ORIGIN),
    ];
    await Promise.all(added);
    const { closed } = await closeBundle(open);
    expect(closed.manifest.items.map(({ path }) => path)).toEqual([
      'plan.json',
      'logs/large.log',
      'small.txt',
      'SUMMARY.md',
    ]);
  });

  it('can be read up to the last whole entry before it is closed', async () => {
    const { writer, output } = openBundle();
    await writer.add(evidence('a.txt', 'first'), ORIGIN);
    const soFar = output.file;
    expect((await entriesOf(soFar)).map(({ name }) => name)).toEqual([`${FOLDER}/plan.json`, `${FOLDER}/a.txt`]);
  });

  it('lists what brought nothing as not got, without a file', async () => {
    const open = openBundle();
    const denied = evidence('shim/stack', '', { outcome: 'denied', detail: 'CAP_SYS_ADMIN' });
    await open.writer.add(denied, ORIGIN);
    open.writer.miss({ what: 'crictl', collector: 'crictl', phase: 'ask', outcome: 'absent' });
    const { closed } = await closeBundle(open);
    expect(closed.manifest.notGot).toEqual([
      { what: '/proc/1/shim/stack', path: 'shim/stack', ...ORIGIN, outcome: 'denied', detail: 'CAP_SYS_ADMIN' },
      { what: 'crictl', collector: 'crictl', phase: 'ask', outcome: 'absent' },
    ]);
  });

  it.each([
    ['/etc/passwd', 'absolute'],
    ['a/../../b', "'..'"],
    ['a//b', "''"],
    ['./a', "'.'"],
    ['a\nb', 'control character'],
    ['a\x1b[2Jb', 'control character'],
    ['grün', 'outside ASCII'],
    ['', 'empty'],
    [`${'a/'.repeat(120)}b`, 'longer'],
    ['manifest.json', 'second entry'],
    ['plan.json', 'second entry'],
    ['again.txt', 'second entry'],
  ])('takes no entry at %j', async (path, why) => {
    const open = openBundle();
    await open.writer.add(evidence('again.txt', 'first'), ORIGIN);
    const result = await open.writer.add(evidence(path, 'second'), ORIGIN);
    expect(result).toMatchObject({ outcome: 'error', detail: expect.stringContaining(why) });
    const { file, closed } = await closeBundle(open);
    expect(closed.manifest.items).toHaveLength(3);
    expect((await entriesOf(file)).map(({ body }) => body.toString())).not.toContain('second');
  });

  it('keeps the newest part of a log that goes over the size, and says so', async () => {
    const log = Buffer.concat([noise(2 * MiB), Buffer.from('\n'), logLines(2 * MiB)]);
    const { file, closed } = await makeBundle([evidence('logs/containerd.log', log)], { maxBytes: MiB });
    expect(file.length).toBeLessThanOrEqual(MiB);
    const item = closed.manifest.items[1];
    expect(item).toMatchObject({ outcome: 'truncated', detail: expect.stringContaining('the bundle may take') });
    const kept = (await entriesOf(file))[1]?.body ?? Buffer.alloc(0);
    expect(kept.length).toBeGreaterThan(512 * 1024);
    expect(log.subarray(-kept.length).equals(kept)).toBe(true);
    expect(kept.subarray(0, 6).toString()).toBe('time="');
  });

  it('keeps room for what comes after a log that fills the bundle', async () => {
    const logs = [1, 2, 3, 4, 5, 6, 7, 8].map(n => evidence(`logs/${n}.log`, noise(MiB, n)));
    const others = [1, 2, 3].map(n => evidence(`node/${n}`, noise(20_000, n)));
    const { file, closed } = await makeBundle([...logs, ...others], { maxBytes: 2 * MiB });
    expect(file.length).toBeLessThanOrEqual(2 * MiB);
    const outcomes = new Map(closed.manifest.items.map(({ path, outcome }) => [path, outcome]));
    expect(outcomes.get('node/1')).toBe('ok');
    expect(outcomes.get('node/3')).toBe('ok');
    expect(['logs/1.log', 'logs/2.log'].map(path => outcomes.get(path))).toEqual(['ok', 'truncated']);
    const last = closed.manifest.notGot.find(({ path }) => path === 'logs/8.log');
    expect(last).toMatchObject({ outcome: 'truncated', detail: expect.stringContaining('the bundle may take') });
  });

  it('stays below the size with as many small entries as will fit, and closes', async () => {
    const entries = Array.from({ length: 600 }, (_, n) => evidence(`many/${n}`, noise(1500, n)));
    const { file, closed } = await makeBundle(entries, { maxBytes: 512 * 1024 });
    expect(file.length).toBeLessThanOrEqual(512 * 1024);
    expect(closed.manifest.items.length).toBeGreaterThan(200);
    expect(closed.manifest.items.length + closed.manifest.notGot.length).toBe(602);
  });

  it('leaves out what is still waiting when it must hurry, and lists it', async () => {
    const open = openBundle();
    const waiting = Array.from({ length: 20 }, (_, n) => open.writer.add(evidence(`logs/${n}`, noise(MiB, n)), ORIGIN));
    const { closed } = await closeBundle(open, true);
    await Promise.all(waiting);
    const { items, notGot } = closed.manifest;
    expect(notGot.length).toBeGreaterThan(10);
    expect(items.length - 2 + notGot.length).toBe(20);
    expect(notGot[0]).toMatchObject({ outcome: 'timeout', detail: 'not written: the run was over' });
    const late = await open.writer.add(evidence('late', 'x'), ORIGIN);
    expect(late).toMatchObject({ outcome: 'timeout', detail: expect.stringContaining('closed') });
  });

  it('puts a body that could not be redacted nowhere', async () => {
    const transform = {
      body: () => Promise.reject(new Error('no')),
      text: (text: string) => text,
    };
    const open = openBundle({ transform });
    const result = await open.writer.add(evidence('a.txt', 'the secret'), ORIGIN);
    expect(result).toMatchObject({ outcome: 'error' });
    const { file } = await closeBundle(open);
    expect(gunzipSync(file).includes('the secret')).toBe(false);
  });

  it('passes plan, manifest and summary through the redactor', async () => {
    const transform = {
      body: async (body: Buffer) => ({ body, redactions: 0, kinds: {} }),
      text: (text: string) => text.replaceAll('INC-4711', '[redacted]'),
    };
    const { file } = await makeBundle([evidence('a.txt', 'x')], { transform });
    expect(gunzipSync(file).includes('INC-4711')).toBe(false);
    expect(gunzipSync(file).includes('[redacted]')).toBe(true);
  });

  it.each(['..', 'a/b', '', 'x'.repeat(121), 'a\n'])('refuses %j as the folder', folder => {
    expect(() => openBundle({ folder })).toThrow(RangeError);
  });
});
