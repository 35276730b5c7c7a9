import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { specEnvNamesOnly } from '../../../src/bundle/redact/env-list.ts';

const spec = {
  ociVersion: '1.0.2-dev',
  process: {
    args: ['sh', '-c', 'echo "$GREETING" ] }'],
    env: ['PATH=/usr/bin:/bin', 'GREETING=say "hello" \\ [world]', 'EMPTY=', 'BARE', 'UNI=grün-ŝekreto', 'EQ=a=b=c'],
    cwd: '/',
  },
  annotations: { 'io.kubernetes.cri.container-name': 'env', env: 'x=y' },
  hooks: { prestart: [{ path: '/bin/hook', env: ['HOOK_TOKEN=deep'] }] },
  linux: { seccomp: { defaultAction: 'SCMP_ACT_ALLOW' } },
};

const NAMES = ['PATH', 'GREETING', 'EMPTY=', 'BARE', 'UNI', 'EQ'];
const SECRET_PARTS = ['/usr/bin', 'hello', 'world', 'kreto', 'a=b', 'deep'];

describe('specEnvNamesOnly', () => {
  it.each([0, 1, '\t'])('leaves the names, and all that is not environment (indent %j)', indent => {
    const body = Buffer.from(JSON.stringify(spec, null, indent));
    const result = JSON.parse(specEnvNamesOnly(body).toString()) as typeof spec;
    expect(result).toEqual({
      ...spec,
      process: { ...spec.process, env: NAMES },
      hooks: { prestart: [{ path: '/bin/hook', env: ['HOOK_TOKEN'] }] },
    });
  });

  it('lets no value through, wherever the text is cut', () => {
    const text = JSON.stringify(spec, null, 1);
    const whole = specEnvNamesOnly(Buffer.from(text)).toString();
    for (let at = 0; at < text.length; at++) {
      const cut = specEnvNamesOnly(Buffer.from(text.slice(0, at))).toString();
      for (const part of SECRET_PARTS) expect(cut.includes(part), `${part} at ${at}`).toBe(false);
      expect(cut.length).toBeLessThanOrEqual(Math.max(whole.length, at));
    }
  });

  it('masks what looks like an environment in what is not JSON', () => {
    const broken = Buffer.from('}{ "env" : [ "A=1", nonsense "B=2", {"name":"C","value":"3"}, ] "env":["D=4"');
    expect(specEnvNamesOnly(broken).toString()).toBe(
      '}{ "env" : [ "A", nonsense "B", {"name":"C","value":""}, ] "env":["D"',
    );
  });

  it.each(['1.6.20', '2.3.4'])('takes the values out of a config.json of containerd %s and nothing else', version => {
    const url = new URL(`../../fixtures/state/${version}/bundle-container/config.json`, import.meta.url);
    const body = readFileSync(url);
    const before = JSON.parse(body.toString()) as typeof spec;
    const after = JSON.parse(specEnvNamesOnly(body).toString()) as typeof spec;
    expect(before.process.env.some(entry => entry.includes('='))).toBe(true);
    expect(after).toEqual({
      ...before,
      process: { ...before.process, env: before.process.env.map(entry => entry.split('=')[0]) },
    });
  });

  it('returns what has no environment as it came', () => {
    const body = Buffer.from('{"ociVersion":"1.0.2"}');
    expect(specEnvNamesOnly(body)).toBe(body);
  });
});
