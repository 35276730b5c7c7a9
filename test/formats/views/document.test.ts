import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parseViews, type ViewsDocument, writeViews } from '../../../src/formats/views/document.ts';
import { time, view } from './views-of.ts';

const SCHEMA = JSON.parse(readFileSync(new URL('../../../schemas/views.schema.json', import.meta.url), 'utf8'));
const matchesSchema = new Ajv2020({ allErrors: true, formats: { 'date-time': true } }).compile(SCHEMA);

const DOCUMENT: ViewsDocument = {
  format: 1,
  shims: [
    {
      ...{ pid: 2623, service: 'containerd.task.v2.Task', outcome: 'ok', at: time(3), latencyMs: 4.2 },
      answeredBy: 2623,
    },
  ],
  containers: [
    { id: 'a'.repeat(64), kind: 'sandbox', name: null, views: [] },
    {
      ...{ id: 'b'.repeat(64), kind: 'container', name: 'a "name"\nof two lines' },
      views: [
        view('/proc', 'gone', 0, { pid: 7 }),
        view('shim', 'no answer', 3, { tookMs: 2001.5, detail: 'no answer within 2000 ms' }),
      ],
    },
  ],
};

describe('runtime/views.json', () => {
  it.each([
    ['with views', DOCUMENT],
    ['of nobody', { format: 1, shims: [], containers: [] } as const],
  ])('%s comes back as it was written, and is what its schema says', (_, document) => {
    const text = writeViews(document);
    matchesSchema(JSON.parse(text));
    expect(matchesSchema.errors).toBeNull();
    expect(parseViews(text)).toEqual(document);
  });

  it('has a line for each view', () => {
    const lines = writeViews(DOCUMENT).split('\n');
    expect(lines.filter(line => line.startsWith('{"source":'))).toHaveLength(2);
    expect(JSON.parse(lines.find(line => line.includes('no answer')) ?? '')).toMatchObject({ source: 'shim' });
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"format":2,"shims":[],"containers":[]}',
    '{"format":1,"shims":[],"containers":[{}]}',
  ])('is none: %s', text => {
    expect(parseViews(text)).toBeNull();
  });

  it('is none when it is cut', () => {
    const text = writeViews(DOCUMENT);
    for (const at of [1, 40, text.length >> 1, text.length - 3]) expect(parseViews(text.slice(0, at))).toBeNull();
  });
});
