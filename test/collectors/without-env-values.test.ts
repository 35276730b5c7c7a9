import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/bundle/evidence.ts';
import { containerRecordOnly, withoutEnvValues } from '../../src/collectors/without-env-values.ts';

const json = (text: string, outcome: Evidence['outcome'] = 'ok'): Evidence => ({
  ...{ path: 'x.json', source: '/x', outcome, body: Buffer.from(text) },
});
const cleaned = (value: unknown) => JSON.parse(withoutEnvValues(json(JSON.stringify(value))).body.toString('utf8'));

describe('environment values', () => {
  it('are taken out of an OCI spec and its hooks, and the names stay', () => {
    const spec = {
      process: { args: ['sh'], env: ['PATH=/bin', 'TOKEN=s3cret', 'EMPTY=', 'BARE'] },
      hooks: { prestart: [{ path: '/x', env: ['KEY=s3cret=x'] }] },
    };
    expect(cleaned(spec)).toEqual({
      process: { args: ['sh'], env: ['PATH', 'TOKEN', 'EMPTY', 'BARE'] },
      hooks: { prestart: [{ path: '/x', env: ['KEY'] }] },
    });
  });

  it("are taken out of docker's and CRI's shapes", () => {
    expect(cleaned([{ Config: { Env: ['A=s3cret'] } }])).toEqual([{ Config: { Env: ['A'] } }]);
    expect(cleaned({ envs: [{ key: 'A', value: 's3cret' }] })).toEqual({ envs: ['A'] });
  });

  it('are taken out of the manifest that kubectl apply keeps in an annotation, also as runc repeats it', () => {
    const name = 'kubectl.kubernetes.io/last-applied-configuration';
    const text = JSON.stringify(
      cleaned({ annotations: { [name]: 's3cret', a: 'b' }, labels: [`${name}=s3cret`, 'c=d'] }),
    );
    expect(text).not.toContain('s3cret');
    expect(text).toContain('"a":"b"');
    expect(text).toContain('"c=d"');
  });

  it('are gone wherever in a document they stand', () => {
    const deep = fc.letrec(tie => ({
      node: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'node' },
        fc.integer(),
        fc.record({ env: fc.constant(['A=s3cret', 'B=s3cret']), more: tie('node') }),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('node'), { maxKeys: 3 }),
      ),
    })).node;
    fc.assert(fc.property(deep, value => void expect(JSON.stringify(cleaned(value))).not.toContain('s3cret')));
  });

  it('are withheld together with everything else when the file was cut in the middle', () => {
    const evidence = withoutEnvValues(json('{"process":{"env":["TOKEN=s3cr', 'truncated'));
    expect(evidence).toMatchObject({ outcome: 'truncated', body: Buffer.alloc(0) });
    expect(evidence.detail).toContain('withheld');
    expect(withoutEnvValues(json('TOKEN=s3cret')).outcome).toBe('error');
  });
});

describe('all the rest of a document', () => {
  it('stays: a captured config.json differs in its environment alone', () => {
    const text = readFileSync(
      new URL('../fixtures/state/1.6.20/bundle-container/config.json', import.meta.url),
      'utf8',
    );
    const { process: before, ...rest } = JSON.parse(text);
    const { process: after, ...restAfter } = cleaned(JSON.parse(text));
    expect(restAfter).toEqual(rest);
    expect({ ...after, env: null }).toEqual({ ...before, env: null });
    expect(after.env).toEqual(['PATH', 'HOSTNAME']);
  });

  it('keeps the digits of numbers that a double does not hold', () => {
    const text = '{"limit":9223372036854771712,"share":1.50,"n":1}';
    expect(withoutEnvValues(json(text)).body.toString().replaceAll(/\s/g, '')).toBe(text);
  });

  it('keeps a label that happens to be called env', () => {
    expect(cleaned({ labels: { env: 'production' } })).toEqual({ labels: { env: 'production' } });
  });
});

describe('the record that ctr prints', () => {
  it('comes without spec and extensions, which hold the environment in plain text and in base64', () => {
    const record = {
      ID: 'x',
      SnapshotKey: 'x',
      Spec: { process: { env: ['A=s3cret'] } },
      Extensions: { 'io.cri-containerd.container.metadata': { value: Buffer.from('A=s3cret').toString('base64') } },
    };
    const text = containerRecordOnly(json(JSON.stringify(record))).body.toString();
    expect(JSON.parse(text)).toMatchObject({ ID: 'x', SnapshotKey: 'x' });
    expect(text).not.toContain('s3cret');
    expect(text).not.toContain(record.Extensions['io.cri-containerd.container.metadata'].value);
  });
});
