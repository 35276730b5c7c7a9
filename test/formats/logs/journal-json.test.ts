import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJournalJson } from '../../../src/formats/logs/journal-json.ts';
import { fixture } from '../fixture.ts';

const RAW = fixture('goroutines/shim-2.3.4-umount-in-delete.raw.log').trimEnd();

describe('parseJournalJson', () => {
  it('joins what journald has cut', () => {
    const { entries, unknown } = parseJournalJson(fixture('journal/split-dump.json'));
    expect(unknown).toEqual([]);
    expect(entries.map(({ pieces, cut, line }) => [pieces, cut, line])).toEqual([
      [1, false, 1],
      [6, false, 2],
      [1, false, 8],
    ]);
    expect(entries[1]).toMatchObject({
      message: RAW,
      host: 'node-1',
      program: 'containerd',
      pid: 25363,
      unit: null,
      realtimeUs: 1795965371385215,
    });
    expect(entries[2]?.message).toBe('time="2026-11-29T11:49:09.1Z" level=info msg="caf\ufffdé" id=b');
  });

  it('says that text is missing where journalctl left it out', () => {
    const { entries } = parseJournalJson(fixture('journal/split-dump-without-all.json'));
    expect(entries.map(({ cut, pieces }) => [cut, pieces])).toEqual([
      [false, 1],
      [true, 6],
      [false, 1],
    ]);
  });

  it('joins nothing past a place where journald has dropped messages of that process', () => {
    const { entries } = parseJournalJson(fixture('journal/rate-limited.json'));
    expect(entries.map(({ pieces, cut, dropped }) => ({ pieces, cut, dropped }))).toEqual([
      { pieces: 1, cut: false, dropped: null },
      { pieces: 1, cut: true, dropped: null },
      { pieces: 1, cut: false, dropped: { pid: 1212, messages: 5 } },
      { pieces: 1, cut: false, dropped: null },
    ]);
    expect(entries[1]?.message).toBe(RAW.slice(0, 4096));
    expect(entries[3]?.message).toMatch(/msg="shim disconnected" id=a$/);
  });

  it('goes on joining when those that were dropped are of somebody else', () => {
    const [, first = '', dropped = ''] = fixture('journal/rate-limited.json').split('\n');
    const rest = first
      .replace(/"MESSAGE":"(?:[^"\\]|\\.)*"/, '"MESSAGE":"rest"')
      .replace('"_LINE_BREAK":"line-max",', '');
    const { entries } = parseJournalJson([first, dropped.replace('"1212"', '"7"'), rest].join('\n'));
    expect(entries.map(({ pieces, cut }) => [pieces, cut])).toEqual([
      [2, false],
      [1, false],
    ]);
  });

  it('gives back any lines, cut anywhere between any bytes, pieces of several programs mixed', () => {
    const line = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .filter(text => !/[\n\r\0]/.test(text) && text.isWellFormed());
    const stream = fc.array(fc.tuple(line, fc.array(fc.nat())));
    const entry = (id: number, bytes: Buffer, lineBreak: boolean) => {
      const text = bytes.toString('utf8');
      return JSON.stringify({
        _STREAM_ID: `s${id}`,
        SYSLOG_IDENTIFIER: 'containerd',
        _PID: String(id),
        MESSAGE: Buffer.from(text).equals(bytes) ? text : [...bytes],
        ...(lineBreak && { _LINE_BREAK: 'line-max' }),
      });
    };
    fc.assert(
      fc.property(fc.array(stream, { maxLength: 3 }), fc.array(fc.nat()), (streams, order) => {
        const queues = streams.map((lines, id) =>
          lines.flatMap(([text, cuts]) => {
            const bytes = Buffer.from(text);
            const places = [...new Set(cuts.map(cut => cut % bytes.length).filter(cut => cut > 0))].sort(
              (a, b) => a - b,
            );
            const ends = [...places, bytes.length];
            return ends.map((end, index) => entry(id, bytes.subarray(ends[index - 1] ?? 0, end), end < bytes.length));
          }),
        );
        const mixed: string[] = [];
        for (let turn = 0; queues.some(queue => queue.length > 0); turn += 1) {
          const left = queues.filter(queue => queue.length > 0);
          mixed.push(left[(order[turn % (order.length || 1)] ?? 0) % left.length]?.shift() ?? '');
        }
        const { entries } = parseJournalJson(`${mixed.join('\n')}\n`);
        for (const [id, lines] of streams.entries()) {
          const own = entries.filter(({ pid }) => pid === id);
          expect(own.map(({ message }) => message)).toEqual(lines.map(([text]) => text));
          expect(own.every(({ cut }) => !cut)).toBe(true);
        }
      }),
    );
  });

  it('says when the last piece ends in the middle of a line', () => {
    const text = fixture('journal/split-dump.json').split('\n').slice(0, 4).join('\n');
    expect(parseJournalJson(text).entries.at(-1)).toMatchObject({ cut: true, pieces: 3 });
  });

  it('keeps lines that are no entries', () => {
    const { entries, unknown } = parseJournalJson('-- No entries --\n{"a":1}\n{"MESSAGE":"x","_PID":"1');
    expect(entries).toEqual([]);
    expect(unknown).toEqual(['-- No entries --', '{"a":1}', '{"MESSAGE":"x","_PID":"1']);
  });
});
