import { describe, expect, it } from 'vitest';
import { podNamesFrom } from '../../../src/diagnosis/facts/sandboxes.ts';

const entriesWith = (text: string | null) => ({ text: () => text }) as unknown as Parameters<typeof podNamesFrom>[0];
const ID = '5a'.repeat(32);
const UID = '0d6f1c9e-6a53-4b53-9a43-0d1f5d3a8c11';

describe('the names of pods', () => {
  it('are those of all sandboxes of the node, and those that logs tell besides', () => {
    const logged = { byUid: new Map([['u2', 'shop/cron-1']]), byId: new Map<string, string>() };
    const names = podNamesFrom(entriesWith(`${ID} shop/batch-7 ${UID}\nb2 shop/static-0 -\nnot a line\n`), logged);
    expect([...names.byUid]).toEqual([
      ['u2', 'shop/cron-1'],
      [UID, 'shop/batch-7'],
    ]);
    expect([...names.byId]).toEqual([
      [ID, 'shop/batch-7'],
      ['b2', 'shop/static-0'],
    ]);
    expect(podNamesFrom(entriesWith(null), logged)).toEqual(logged);
  });
});
