import { describe, expect, it } from 'vitest';
import type { ContainerFacts } from '../../../src/diagnosis/facts.ts';
import { factsFromEntries } from '../../../src/diagnosis/read-facts.ts';
import { entriesOf, factsOfBundle } from '../fixture-bundle.ts';

const app = (name: string) =>
  factsOfBundle(name).containers?.find(({ kind }) => kind === 'container') as ContainerFacts;

describe('what runtime/views.json tells', () => {
  it("is the shim's own word, with the time of the exit and the line that says it", () => {
    const answer = app('exit-event-lost').shimAnswer;
    expect(answer).toMatchObject({ status: 'STOPPED', pid: expect.any(Number), exitedAt: expect.any(Number) });
    const lines = entriesOf('exit-event-lost').get('runtime/views.json')?.toString().split('\n') ?? [];
    expect(lines[(answer?.cite.line ?? 0) - 1]).toContain('"source":"shim"');
    expect(lines[(answer?.cite.line ?? 0) - 1]).toContain('STOPPED');
  });

  it('is what everybody said, /proc first, as often as it was asked', () => {
    const { views } = app('exit-event-lost');
    expect(views.map(({ source }) => source)).toEqual(
      [...views.map(({ source }) => source)].toSorted((a, b) => Number(b === '/proc') - Number(a === '/proc')),
    );
    expect(views.filter(({ source }) => source === '/proc').map(({ says }) => says)).toEqual(['exited', 'exited']);
    expect(
      views.every(({ at, cite }) => at !== null && cite.entry === 'runtime/views.json' && cite.line !== null),
    ).toBe(true);
  });

  it('tells a shim that answers Connect from one that does not', () => {
    expect(factsOfBundle('exit-event-lost').shims?.[0]?.connect).toMatchObject({ answered: true });
    expect(factsOfBundle('runc-create-held').shims?.[0]?.connect).toMatchObject({
      answered: false,
      tookMs: expect.any(Number),
    });
    // A shim that is stopped is not asked.
    expect(factsOfBundle('shim-stopped').shims?.[0]?.connect?.answered).not.toBe(true);
  });

  it('has no time of exit for a task that runs', () => {
    expect(app('containerd-restarted').shimAnswer).toMatchObject({ status: 'RUNNING', exitedAt: null });
  });

  it('is done without in bundles that have none, or a broken one', () => {
    const entries = new Map(entriesOf('exit-event-lost'));
    for (const body of [null, '', '{"format":1', '{"format":2,"shims":[],"containers":[]}']) {
      if (body === null) entries.delete('runtime/views.json');
      else entries.set('runtime/views.json', Buffer.from(body));
      const facts = factsFromEntries(entries);
      const container = facts.containers?.find(({ kind }) => kind === 'container');
      expect(container?.shimAnswer).toBeNull();
      expect(container?.views.map(({ source }) => source)).toContain('CRI status file');
    }
  });
});
