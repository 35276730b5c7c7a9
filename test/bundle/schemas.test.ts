import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { GrabResult } from '../../src/bundle/grab-result.ts';
import { evidence, makeBundle } from './made/bundle.ts';
import { plan } from './made/documents.ts';

type Node = Record<string, unknown>;

function schemaOf(name: string): Node {
  return JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')) as Node;
}

/** With every object closed, so that a property of the TypeScript type that the schema does not know fails. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (node === null || typeof node !== 'object') return node;
  const copy: Node = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, closed(inner)]));
  const isObject = copy['type'] === 'object' && copy['properties'] !== undefined;
  return isObject ? { ...copy, additionalProperties: false } : copy;
}

function strict(name: string): ValidateFunction {
  return new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(closed(schemaOf(name)) as Node);
}

function expectValid(validate: ValidateFunction, value: unknown): void {
  validate(JSON.parse(JSON.stringify(value)));
  expect(validate.errors ?? []).toEqual([]);
}

/** Every path to a property in the value: ['capture', 'clocks'], … Of lists the first member. */
function* propertyPaths(value: unknown, at: readonly string[] = []): Generator<readonly string[]> {
  if (value === null || typeof value !== 'object') return;
  const entries = Array.isArray(value) ? Object.entries(value.slice(0, 1)) : Object.entries(value);
  for (const [key, inner] of entries) {
    if (!Array.isArray(value)) yield [...at, key];
    yield* propertyPaths(inner, [...at, key]);
  }
}

function without(value: unknown, path: readonly string[]): unknown {
  const copy = JSON.parse(JSON.stringify(value)) as Node;
  const parent = path.slice(0, -1).reduce<Node>((node, key) => node[key] as Node, copy);
  delete parent[path.at(-1) ?? ''];
  return copy;
}

async function aManifest() {
  const made = await makeBundle([
    evidence('shim/threads-1.txt', 'x', { outcome: 'truncated', detail: 'cut' }),
    evidence('shim/stack', '', { outcome: 'denied' }),
  ]);
  return made.closed.manifest;
}

const OPTIONAL = new Set(['detail', 'redacted', 'unredacted', 'reason', 'path', 'offsetMs', 'durationMs']);

describe('the schemas', () => {
  it('the manifest of a bundle is what its schema says, with nothing that the schema does not know', async () => {
    expectValid(strict('manifest'), await aManifest());
  });

  it('the manifest schema asks for every property that the type has', async () => {
    const validate = strict('manifest');
    const manifest = await aManifest();
    for (const path of propertyPaths(manifest)) {
      const mayLack = OPTIONAL.has(path.at(-1) ?? '') && path[0] !== 'signals' && path[0] !== 'stuckProbes';
      if (!mayLack) expect(validate(without(manifest, path)), path.join('.')).toBe(false);
    }
  });

  it('the manifest schema knows each kind of target', async () => {
    const validate = strict('manifest');
    const manifest = await aManifest();
    const remnant = { what: 'pod that was never created', pod: null, ids: [], paths: ['/var/log/pods/shop_web-0_1'] };
    expectValid(validate, { ...manifest, target: { kind: 'remnant', asked: 'web-0', how: 'log directory', remnant } });
    expectValid(validate, { ...manifest, target: { kind: 'node', asked: null, how: '--node' } });
    expect(validate({ ...manifest, target: { kind: 'else', asked: null, how: '' } })).toBe(false);
  });

  it('a plan is what its schema says, and lacks nothing of it', () => {
    const validate = strict('plan');
    expectValid(validate, plan);
    for (const path of propertyPaths(plan)) expect(validate(without(plan, path)), path.join('.')).toBe(false);
  });

  it('the result of a grab is what its schema says, and lacks nothing of it', () => {
    const result: GrabResult = {
      bundle: '/run/stallcap/x.tar.gz',
      outcome: 'incomplete',
      exitCode: 3,
      target: { kind: 'sandbox', id: 'a1', namespace: 'shop', pod: 'web-0', uid: null, shimPids: [24108] },
      startedAt: '2026-11-29T11:49:08.683Z',
      durationMs: 5437,
      bytes: 812345,
      firstStackMs: 21.4,
      blocked: [
        { pid: 24108, tid: 24112, comm: 'containerd-shim', wchan: 'x', syscall: 'umount2', blockedForMs: 20_200 },
      ],
      missing: [{ what: 'runtime/crictl.txt', collector: 'crictl', outcome: 'timeout', detail: 'no answer in 2 s' }],
      items: 214,
      redactions: 3,
      signals: [{ pid: 24108, outcome: 'sent', dump: 'complete' }],
      stuckProbes: 1,
      abandoned: [{ place: '/srv', reason: 'no answer for 1500 ms' }],
      verdict: null,
    };
    const validate = strict('grab');
    expectValid(validate, result);
    for (const path of propertyPaths(result)) expect(validate(without(result, path)), path.join('.')).toBe(false);
  });

  it.each(['manifest', 'plan', 'grab', 'verify'])('%s describes every property that is not plain', name => {
    const bare: string[] = [];
    const walk = (node: unknown, at: string) => {
      if (node === null || typeof node !== 'object') return;
      const { type, description, properties } = node as Node;
      if (type === 'object' && properties !== undefined && description === undefined) bare.push(at);
      for (const [key, inner] of Object.entries(node)) walk(inner, `${at}/${key}`);
    };
    walk(schemaOf(name), '');
    expect(bare).toEqual([]);
  });
});
