import { expect, test } from 'vitest';
import { limitedBefore, newestCursor, readJournal } from '../../../src/collectors/signal/read-journal.ts';
import { fixture } from '../../formats/fixture.ts';
import { PaperHost } from '../paper-host.ts';

const RECORDS = fixture('journal/rate-limited.json');
const [, PIECE = '', DROPPED = '', NEXT = ''] = RECORDS.split('\n');
const SINK = { kind: 'journal', pid: 1212, root: '', words: 'a socket', hung: null } as const;
/** Of the record in which journald says what it has dropped. */
const droppedMs = Number(/"__REALTIME_TIMESTAMP":"(\d+)"/.exec(DROPPED)?.[1]) / 1000;
const sentAt = (ms: number) => ({ wall: new Date(ms).toISOString(), offsetMs: 0 });

function journalOf(text: string): PaperHost {
  const paper = new PaperHost();
  paper.answer = () => ({ stdout: text });
  return paper;
}
const read = (text: string) => readJournal(journalOf(text).host, SINK, sentAt(droppedMs - 4000), 1000);

test('what journald has dropped of containerd is said, and the lines of others are left out', async () => {
  expect(await read(RECORDS)).toMatchObject({
    rateLimited: true,
    notes: ['journald dropped messages: Suppressed 5 messages from containerd.service'],
    failed: null,
    hung: false,
  });
  const others = await read(RECORDS.replaceAll('"_PID":"1212"', '"_PID":"1213"'));
  expect(others.text).toBe('');
});

test('what it has dropped of another service is no reason', async () => {
  const foreign = DROPPED.replace('"OBJECT_PID":"1212"', '"OBJECT_PID":"9"').replaceAll(
    'containerd.service',
    'x.service',
  );
  expect(await read([PIECE, foreign, NEXT].join('\n'))).toMatchObject({ rateLimited: false, notes: [] });
  const sameUnit = DROPPED.replace('"OBJECT_PID":"1212"', '"OBJECT_PID":"9"');
  expect(await read([PIECE, sameUnit, NEXT].join('\n'))).toMatchObject({ rateLimited: true });
});

test('that it was dropping before the signal is a reason, told with its time', async () => {
  const paper = journalOf(DROPPED);
  expect(await limitedBefore(paper.host, SINK, sentAt(droppedMs + 12_000), 1000)).toBe(
    'Suppressed 5 messages from containerd.service, 12 s before the signal',
  );
  const [argv = []] = paper.commands;
  expect(argv.slice(-2)).toEqual(['MESSAGE_ID=a596d6fe7bfa4994828e72309e95d61e', 'OBJECT_PID=1212']);
  expect(argv.find(word => word.startsWith('--since='))).toBe(
    `--since=@${((Math.floor(droppedMs) - 48_000) / 1000).toFixed(3)}`,
  );
  expect(await limitedBefore(journalOf('').host, SINK, sentAt(droppedMs), 1000)).toBeNull();
});

test('what is new is told by the cursor from before the signal, else by the clock', async () => {
  const paper = journalOf(NEXT);
  const { cursor } = await newestCursor(paper.host, SINK, 1000);
  expect(cursor).toMatch(/^s=[0-9a-f]{32};i=27a;/);
  await readJournal(paper.host, { ...SINK, cursor: cursor ?? '' }, sentAt(droppedMs), 1000);
  await readJournal(paper.host, SINK, sentAt(droppedMs), 1000);
  expect(paper.commands.map(argv => argv[5])).toEqual([
    '--lines=1',
    `--cursor=${cursor}`,
    `--since=@${((Math.floor(droppedMs) - 1000) / 1000).toFixed(3)}`,
  ]);
  for (const nothing of ['', '-- No entries --', '{"a":1}'])
    expect((await newestCursor(journalOf(nothing).host, SINK, 1)).cursor).toBeNull();
});

test('from inside a container it is asked for the journal of the node', async () => {
  const paper = journalOf(NEXT);
  const sink = { ...SINK, root: '/proc/612/root' };
  await newestCursor(paper.host, sink, 1000);
  await readJournal(paper.host, sink, sentAt(droppedMs), 1000);
  await limitedBefore(paper.host, sink, sentAt(droppedMs), 1000);
  expect(paper.commands.map(argv => argv[1])).toEqual(Array(3).fill('--root=/proc/612/root'));
});

test('a node without journalctl is told from an empty journal', async () => {
  expect(await newestCursor(new PaperHost().host, SINK, 1000)).toEqual({ cursor: null, absent: true });
  expect(await newestCursor(journalOf('').host, SINK, 1000)).toEqual({ cursor: null, absent: false });
});
