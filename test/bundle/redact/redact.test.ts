import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, redaction, redactText } from '../../../src/bundle/redact/redact.ts';
import { mapStrings } from '../../../src/bundle/transform.ts';
import { evidence, logLines, MiB, makeBundle, noise } from '../made/bundle.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('redact', () => {
  it('returns a body without secrets as it came, not a copy', () => {
    const body = logLines(MiB);
    expect(redact(body)).toEqual({ body, redactions: 0, kinds: {} });
    expect(redact(body).body).toBe(body);
  });

  it('counts by kind, and changes nothing else', () => {
    const body = Buffer.from('a=1 DB_PASSWORD=x1 b=2\nAuthorization: Bearer abcdef0123456789 c\nDB_PASSWORD=x2 ü\n');
    expect(redact(body)).toEqual({
      body: Buffer.from(
        'a=1 DB_PASSWORD=[redacted:password] b=2\nAuthorization: Bearer [redacted:authorization] c\nDB_PASSWORD=[redacted:password] ü\n',
      ),
      redactions: 3,
      kinds: { password: 2, authorization: 1 },
    });
  });

  it('takes the same out of a body in windows as out of the whole text at once', () => {
    const words = fc.constantFrom(
      ...[
        'password=',
        'x',
        ' ',
        '"',
        '\\"',
        '\n',
        '--token ',
        '-----BEGIN PRIVATE KEY-----\n',
        '-----END',
        '://u:p@h/',
      ],
      ...[
        '"env":["A=b",',
        ']',
        '{"name":"X","value":"',
        'eyJabcdefghij.eyJabcdefghij.x',
        ',',
        "secret: '",
        'AKIA',
        '=',
        ':',
      ],
    );
    const filler = fc.nat(90_000).map(length => 'lorem ipsum '.repeat(length / 12));
    fc.assert(
      fc.property(fc.array(fc.oneof(words, words, words, filler), { minLength: 5, maxLength: 40 }), parts => {
        const text = parts.join('');
        expect(redact(latin1(text)).body.toString('latin1') === redactText(text)).toBe(true);
      }),
      { numRuns: 80 },
    );
  });

  it('finds a secret wherever it stands, on either side of a window', () => {
    const secret = 'DB_PASSWORD=correct-horse-battery';
    const line = `${'.'.repeat(60)} `;
    for (let shift = -60; shift <= 60; shift++) {
      for (const edge of [256 * 1024 - 16 * 1024, 256 * 1024]) {
        const before = line.repeat(5000).slice(0, edge + shift - 1);
        const { body, redactions } = redact(latin1(`${before} ${secret} ${line.repeat(5000)}`));
        expect(redactions).toBe(1);
        expect(body.includes('horse')).toBe(false);
      }
    }
  });

  it('takes out a secret that is larger than a window', () => {
    const text = (secret: string) => `${'x '.repeat(50_000)}password=${secret} ${'y '.repeat(50_000)}`;
    const { body, redactions } = redact(latin1(text('s'.repeat(3 * MiB))));
    expect(redactions).toBe(1);
    expect(body.toString('latin1')).toBe(text('[redacted:password]'));
  });

  it('takes every value out of an environment that is larger than a window', () => {
    const list = Array.from({ length: 30_000 }, (_, n) => `"VAR_${n}=value ${n}"`);
    const { body, redactions } = redact(latin1(`{"process":{"env":[${list}],"cwd":"/"}}`));
    expect(redactions).toBe(30_000);
    const { process } = JSON.parse(body.toString()) as { process: { env: string[]; cwd: string } };
    expect(process.cwd).toBe('/');
    expect(process.env.every((value, n) => value === `VAR_${n}=[redacted:env]`)).toBe(true);
  });

  it('takes a list that a log line cuts off for no longer than that line', () => {
    const log = 'req={"env":["A=secret one","B=sec\nlevel=info msg="x=y" "k=v"\n"env": [\nlevel=info "a=b"\n';
    expect(redactText(log)).toBe(
      'req={"env":["A=[redacted:env]","B=[redacted:env]\nlevel=info msg="x=y" "k=v"\n"env": [\nlevel=info "a=b"\n',
    );
  });

  it('grows the copy when the replacements are longer than the secrets', () => {
    const { body, redactions } = redact(latin1('pwd=1 '.repeat(50_000)));
    expect(redactions).toBe(50_000);
    expect(body.toString()).toBe('pwd=[redacted:password] '.repeat(50_000));
  });

  it('comes to its end on one line of what makes expressions slow', () => {
    for (const hostile of [
      'eyJ',
      'token=/var/',
      'curl -u ',
      'password=',
      '\\"',
      'secret=\\"',
      '"env":[{"',
      '-----BEGIN ',
    ]) {
      const body = Buffer.alloc(MiB, hostile);
      expect(redact(body).body.length).toBeGreaterThan(0);
    }
  });

  it('leaves binary data as it is, and says so', () => {
    const body = Buffer.concat([noise(200_000), Buffer.from(' password=hunter2 ')]);
    expect(redact(body)).toEqual({ body, redactions: 0, kinds: {}, skipped: 'binary' });
  });

  it.each([
    [
      'a log with a hole of NULs at its beginning',
      Buffer.concat([Buffer.alloc(300_000), latin1('password=hunter2 x\n')]),
    ],
    ['a cmdline', latin1('/bin/app\0--password\0hunter2\0')],
    ['Latin-1', latin1(`Gr\xfc\xdfe aus K\xf6ln, password=hunter2 x\n${'Stra\xdfe '.repeat(100)}`)],
    ['UTF-8', Buffer.from(`${'日本語のログ '.repeat(2000)} password=hunter2 x ${'日本語のログ '.repeat(2000)}`)],
    ['terminal colours', latin1('\x1b[31mpassword=hunter2\x1b[0m '.repeat(50))],
    ['an empty-ish body', latin1('pwd=hunter2')],
  ])('takes %s for text', (_, body) => {
    const result = redact(body);
    expect(result.skipped).toBeUndefined();
    expect(result.body.includes('hunter2')).toBe(false);
    expect(result.redactions).toBeGreaterThan(0);
  });

  it('takes out what the user asks for, too, as one where it overlaps', () => {
    const options = { patterns: [/INC-\d+/g, /word=[^ ]+ and/g] };
    const { body, kinds } = redact(latin1('see INC-4711: password=x and more, INC-4712'), options);
    expect(body.toString()).toBe('see [redacted:pattern]: pass[redacted:pattern] more, [redacted:pattern]');
    expect(kinds).toEqual({ pattern: 3 });
  });
});

describe('redaction in the writer', () => {
  it('gives the event loop its turn', async () => {
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    await redaction().body(logLines(8 * MiB));
    clearInterval(count);
    expect(turns).toBeGreaterThan(3);
  });

  it('counts into the items, says what it did not look at, and reaches plan and manifest', async () => {
    const entries = [
      evidence('logs/a.log', 'password=hunter2 x\nAKIA nothing\n', { source: 'app --token abcdef0123456789' }),
      evidence('node/binary', noise(5000)),
    ];
    const { closed } = await makeBundle(entries, { transform: redaction() });
    const [, log, binary] = closed.manifest.items;
    expect(log).toMatchObject({ redactions: 1, redacted: { password: 1 }, source: 'app --token [redacted:token]' });
    expect(log?.bytes).toBe(Buffer.byteLength('password=[redacted:password] x\nAKIA nothing\n'));
    expect(binary).toMatchObject({ redactions: 0, unredacted: 'binary' });
  });

  it('says of every item that nothing was looked for with --no-redact', async () => {
    const { closed } = await makeBundle([evidence('a.txt', 'password=hunter2')]);
    expect(closed.manifest.items[1]).toMatchObject({ redactions: 0, unredacted: 'off', bytes: 16 });
  });

  it('sees a flag and its value in two members of an argv', () => {
    const manifest = { argv: ['app', '--password', 'hunter2 and more', '--port', '80'], note: 'token=abcdef01', n: 1 };
    expect(mapStrings(manifest, text => redactText(text))).toEqual({
      argv: ['app', '--password', '[redacted:password]', '--port', '80'],
      note: 'token=[redacted:token]',
      n: 1,
    });
  });
});
