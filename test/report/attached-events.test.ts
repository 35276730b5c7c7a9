import { expect, it } from 'vitest';
import { readAttached } from '../../src/report/timeline/attached-events.ts';
import { factsOf } from '../diagnosis/facts-of.ts';

it('of a busy namespace the last 500 events about the pod are kept, whoever else is in the file', async () => {
  const rows = (count: number, object: string) =>
    Array.from({ length: count }, (_, n) => `${count - n}s  Warning  Failed  ${object}  number ${n}\n`).join('');
  const text = `LAST SEEN  TYPE  REASON  OBJECT  MESSAGE\n${rows(600, 'pod/web-0')}${rows(600, 'pod/other')}`;
  const [file] = await readAttached([{ name: 'events.txt', text, writtenAt: 0 }], factsOf().target);
  expect(file?.events).toHaveLength(500);
  expect(file?.events[0]).toMatchObject({ object: 'pod/web-0', message: 'number 100', cite: { line: 102 } });
});
