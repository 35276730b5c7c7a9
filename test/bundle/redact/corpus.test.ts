import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redact, redactText } from '../../../src/bundle/redact/redact.ts';
import { note } from '../../lab/faults/figures.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

interface Secret {
  readonly kind: string;
  readonly text: string;
  readonly secrets: readonly (readonly [string, string])[];
}

const SECRETS = readFileSync(join(FIXTURES, 'redaction/secrets.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as Secret);

const LOOKALIKES = readFileSync(join(FIXTURES, 'redaction/lookalikes.txt'), 'utf8').trimEnd().split('\n');

function filled({ text, secrets }: Secret): string {
  const parts = text.split('<<>>');
  return parts.map((part, n) => part + (secrets[n]?.join('') ?? '')).join('');
}

describe('the corpus of secrets', () => {
  it('has enough of them', () => {
    expect(SECRETS.length).toBeGreaterThanOrEqual(60);
    expect(LOOKALIKES.length).toBeGreaterThanOrEqual(60);
  });

  it.for(SECRETS)('$kind in $text', (secret, context) => {
    const text = filled(secret);
    const expected = secret.text
      .replaceAll('":<<>>}', `":"[redacted:${secret.kind}]"}`)
      .replaceAll('<<>>', `[redacted:${secret.kind}]`);
    expect(redactText(text)).toBe(expected);
    const result = redact(Buffer.from(text));
    const found = secret.secrets.filter(parts => !result.body.includes(parts.join('')));
    note(context, { secrets: secret.secrets.length, secretsFound: found.length });
    expect(result.body.toString()).toBe(expected);
    expect(result.redactions).toBe(secret.secrets.length);
    expect(result.kinds).toEqual({ [secret.kind]: secret.secrets.length });
  });

  it('is taken out again to no effect', () => {
    const once = redactText(SECRETS.map(filled).join('\n'));
    expect(redactText(once)).toBe(once);
  });

  it('is found at every place in a large body, also where it is cut into windows', () => {
    const texts = SECRETS.map(filled).filter(text => !/\0|BEGIN/.test(text));
    const filler = `${'time="2026-11-29T11:49:08Z" level=info msg="nothing to see"\n'.repeat(997)}`;
    const body = Buffer.from(texts.map(text => `${text}\n${filler}`).join('\n'));
    const { body: clean, redactions } = redact(body);
    expect(redactions).toBe(SECRETS.filter(s => texts.includes(filled(s))).reduce((n, s) => n + s.secrets.length, 0));
    for (const { secrets } of SECRETS) {
      for (const secret of secrets) {
        if (secret.join('').length > 8 && !/BEGIN|MII/.test(secret.join(''))) {
          expect(clean.includes(secret.join('')), secret.join('')).toBe(false);
        }
      }
    }
  });
});

describe('what only looks like a secret', () => {
  it.each(LOOKALIKES)('%s', line => {
    expect(redactText(line)).toBe(line);
  });

  it('stays in a body of all of them', () => {
    const body = Buffer.from(LOOKALIKES.join('\n'));
    expect(redact(body).body).toBe(body);
  });
});

function* files(dir: string): Generator<string> {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else yield path;
  }
}

describe('what was captured for real', () => {
  const captured = ['goroutines', 'journal', 'kernel-log', 'proc', 'state'].flatMap(dir => [
    ...files(join(FIXTURES, dir)),
  ]);

  it('loses nothing: dumps, state, /proc, logs', () => {
    expect(captured.length).toBeGreaterThan(40);
    for (const path of captured) {
      const body = readFileSync(path);
      const { body: clean, kinds } = redact(body);
      const { env: _, ...others } = kinds;
      expect(others, path).toEqual({});
      if (kinds['env'] === undefined) expect(clean, path).toBe(body);
    }
  });

  it('stays JSON where it was JSON', () => {
    for (const path of captured.filter(name => name.endsWith('.json') && !name.includes('journal'))) {
      const body = readFileSync(path);
      const isJson = (bytes: Buffer) => {
        try {
          JSON.parse(bytes.toString());
          return true;
        } catch {
          return false;
        }
      };
      expect(isJson(redact(body).body), path).toBe(isJson(body));
    }
  });
});
