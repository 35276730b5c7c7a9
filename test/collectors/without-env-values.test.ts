import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/bundle/evidence.ts';
import { containerRecordOnly, withoutEnvValues } from '../../src/collectors/without-env-values.ts';

const json = (text: string, outcome: Evidence['outcome'] = 'ok'): Evidence => ({
  ...{ path: 'x.json', source: '/x', outcome, body: Buffer.from(text) },
});

describe('environment values', () => {
  it('are taken out of a captured config.json, and not a byte else', () => {
    const text = readFileSync(
      new URL('../fixtures/state/1.6.20/bundle-container/config.json', import.meta.url),
      'utf8',
    );
    const cleaned = withoutEnvValues(json(text)).body.toString();
    expect(text).toContain('"env":["PATH=/bin","HOSTNAME=vm"]');
    expect(cleaned).toBe(text.replace('"env":["PATH=/bin","HOSTNAME=vm"]', '"env":["PATH","HOSTNAME"]'));
  });

  it("are taken out of docker's record", () => {
    const record = '{"State":{"Pid":0},"Config":{"Env":["A=s3cret"],"Labels":{"env":"production"}}}';
    expect(withoutEnvValues(json(record)).body.toString()).toBe(record.replace('=s3cret', ''));
  });

  it('are taken out of a file that was cut in the middle of one', () => {
    const evidence = withoutEnvValues(json('{"process":{"env":["TOKEN=s3cr', 'truncated'));
    expect(evidence.outcome).toBe('truncated');
    expect(evidence.body.toString()).not.toContain('s3cr');
  });
});

describe('the record that ctr prints', () => {
  const metadata = Buffer.from('{"envs":[{"key":"A","value":"s3cret"}]}').toString('base64');
  const record = {
    ID: 'x',
    SnapshotKey: 'x',
    Spec: { process: { env: ['A=s3cret'] } },
    Extensions: { 'io.cri-containerd.container.metadata': { value: metadata } },
  };

  it('comes without spec and extensions, which hold the environment in plain text and in base64', () => {
    const text = containerRecordOnly(json(JSON.stringify(record))).body.toString();
    expect(JSON.parse(text)).toMatchObject({ ID: 'x', SnapshotKey: 'x' });
    expect(text).not.toContain('s3cret');
    expect(text).not.toContain(metadata);
  });

  it('is withheld when it is no JSON, so that no secret gets by in a form that nobody thought of', () => {
    expect(containerRecordOnly(json('Spec: A=s3cret'))).toMatchObject({ outcome: 'error', body: Buffer.alloc(0) });
    for (const outcome of ['truncated', 'timeout'] as const) {
      const cut = json(JSON.stringify(record).slice(0, -2), outcome);
      expect(containerRecordOnly(cut)).toMatchObject({ outcome, body: Buffer.alloc(0) });
    }
  });

  it('is a complaint when there is none, and that comes as it is', () => {
    const complaint = json('ctr: container "x" not found', 'error');
    expect(containerRecordOnly(complaint)).toBe(complaint);
  });
});
