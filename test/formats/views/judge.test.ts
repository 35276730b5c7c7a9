import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeViews } from '../../../src/formats/views/judge.ts';
import { SOURCES, type View } from '../../../src/formats/views/view.ts';
import { time, view } from './views-of.ts';

/** `shim RUNNING`, for each contradiction; `?` when something may yet be put right. */
function verdict(...views: readonly View[]): string {
  const { contradictions, open } = judgeViews({ views });
  return [...contradictions.map(({ view: { source, word } }) => `${source} ${word}`), ...(open ? ['?'] : [])].join(
    ', ',
  );
}

const gone = (seconds: number, more = {}) => view('/proc', 'gone', seconds, more);
const alive = (seconds: number, more = {}) => view('/proc', 'alive', seconds, more);

describe('sources that agree', () => {
  it('are those of a container that runs, of one that ended, and of one that is being made', () => {
    const all = (word: string, task: string, seconds: number) => [
      view('shim', task, seconds),
      view('CRI', word, seconds),
      view('CRI status file', task, seconds),
    ];
    expect(verdict(alive(0), ...all('CONTAINER_RUNNING', 'RUNNING', 3), alive(4))).toBe('');
    expect(verdict(gone(0), ...all('CONTAINER_EXITED', 'STOPPED', 3), gone(4))).toBe('');
    expect(verdict(alive(0), ...all('CONTAINER_CREATED', 'CREATED', 3), alive(4))).toBe('');
    expect(verdict(gone(0), ...all('CONTAINER_CREATED', 'CREATED', 3), gone(4))).toBe('');
  });

  it('may have been asked before and after its end', () => {
    expect(verdict(alive(0), view('shim', 'RUNNING', 3), gone(4))).toBe('?');
    expect(verdict(alive(0), view('shim', 'STOPPED', 3), gone(4))).toBe('');
    expect(verdict(alive(0), view('CRI', 'CONTAINER_RUNNING', 3), view('shim', 'STOPPED', 3.1), gone(4))).toBe('?');
  });

  it('or have not answered, or know of nothing', () => {
    const silent = view('shim', 'no answer', 3);
    const unknown = view('runc', 'no record', 3, { says: 'absent' });
    expect(silent.says).toBe('unknown');
    expect(verdict(gone(0), silent, unknown, gone(4))).toBe('');
    expect(verdict(alive(0), silent, unknown, alive(4))).toBe('');
  });
});

describe('who says that a container runs', () => {
  it('is wrong a second after its process was seen to be gone', () => {
    expect(verdict(gone(0), view('CRI', 'CONTAINER_RUNNING', 1))).toBe('CRI CONTAINER_RUNNING');
    expect(verdict(gone(0), view('shim', 'PAUSED', 1))).toBe('shim PAUSED');
  });

  it('may be late before that, or when it has only just written it', () => {
    expect(verdict(gone(0), view('CRI', 'CONTAINER_RUNNING', 0.999))).toBe('?');
    const file = (age: number) => view('CRI status file', 'RUNNING', 60, { since: time(60 - age) });
    expect(verdict(gone(0), file(0.4))).toBe('?');
    expect(verdict(gone(0), file(1))).toBe('CRI status file RUNNING');
  });

  it('counts by its last word', () => {
    const corrected = view('CRI status file', 'EXITED', 3, { says: 'exited' });
    expect(verdict(gone(0), view('CRI status file', 'RUNNING', 1.5), corrected)).toBe('');
  });

  it('may speak of another process: docker starts a container again under the same id', () => {
    const ofOld = gone(0, { pid: 100 });
    expect(verdict(ofOld, view('config.v2.json', 'running', 5, { pid: 200 }))).toBe('');
    expect(verdict(ofOld, view('config.v2.json', 'running', 5, { pid: 100 }))).toBe('config.v2.json running');
    expect(verdict(ofOld, view('docker', 'running', 5))).toBe('docker running');
  });
});

describe('who says that a container has ended', () => {
  it('is wrong when its process was there a second before and is there afterwards', () => {
    expect(verdict(alive(0), view('shim', 'STOPPED', 1), alive(1.1))).toBe('shim STOPPED');
    expect(verdict(alive(0), view('shim', 'STOPPED', 0.5), alive(1.1))).toBe('?');
    expect(verdict(alive(0), view('shim', 'STOPPED', 5))).toBe('?');
    expect(verdict(alive(0), view('shim', 'STOPPED', 5), gone(5.1))).toBe('');
  });

  it('is believed where nothing is known of its process, for a second longer than somebody else', () => {
    const task = view('shim', 'STOPPED', 3, { since: time(1) });
    expect(verdict(task, view('CRI', 'CONTAINER_RUNNING', 3))).toBe('CRI CONTAINER_RUNNING');
    expect(verdict(view('shim', 'STOPPED', 3), view('CRI', 'CONTAINER_RUNNING', 3))).toBe('?');
    expect(verdict(view('CRI', 'CONTAINER_RUNNING', 3))).toBe('');
    expect(verdict(view('/proc', 'no answer', 0), task, view('docker', 'running', 3))).toBe('docker running');
  });
});

describe('the five incidents, as their sources told them', () => {
  it('an umount that hangs: CRI says running, the shim does not answer, the process is gone', () => {
    const views = [
      gone(0),
      view('runc', 'no record', 0, { says: 'absent' }),
      view('shim', 'no answer', 3, { tookMs: 2000 }),
      view('CRI status file', 'RUNNING', 3, { since: time(-840) }),
      view('CRI', 'CONTAINER_RUNNING', 3, { tookMs: 2 }),
    ];
    expect(verdict(...views, gone(5))).toBe('CRI status file RUNNING, CRI CONTAINER_RUNNING');
  });

  it('an exit event that was lost: the task is stopped, CRI says running', () => {
    const views = [gone(0), view('shim', 'STOPPED', 3, { since: time(-60) }), view('CRI', 'CONTAINER_RUNNING', 3)];
    expect(verdict(...views)).toBe('CRI CONTAINER_RUNNING');
  });

  it('docker says up, the task is stopped', () => {
    const views = [gone(0, { pid: 7 }), view('shim', 'STOPPED', 3), view('config.v2.json', 'running', 3, { pid: 7 })];
    expect(verdict(...views)).toBe('config.v2.json running');
  });
});

it('no verdict depends on the order of views of different sources', () => {
  const word = fc.constantFrom('RUNNING', 'STOPPED', 'CREATED', 'PAUSED', 'no answer');
  const other = fc.record({
    source: fc.constantFrom(...SOURCES.slice(1)),
    word,
    seconds: fc.integer({ min: 0, max: 9 }),
  });
  const others = fc.uniqueArray(other, { selector: ({ source }) => source });
  const inits = fc.array(fc.record({ dead: fc.boolean(), seconds: fc.integer({ min: 0, max: 9 }) }), { maxLength: 3 });
  fc.assert(
    fc.property(others, inits, fc.infiniteStream(fc.nat()), (said, seen, order) => {
      const proc = seen
        .toSorted((a, b) => a.seconds - b.seconds)
        .map(({ dead, seconds }) => (dead ? gone : alive)(seconds));
      const views = said.map(({ source, word: spoken, seconds }) => view(source, spoken, seconds));
      const keys = views.map(() => order.next().value as number);
      const shuffled = views.toSorted((a, b) => (keys[views.indexOf(a)] ?? 0) - (keys[views.indexOf(b)] ?? 0));
      const sorted = (all: readonly View[]) => {
        const { contradictions, open } = judgeViews({ views: all });
        return [contradictions.map(({ view: { source } }) => source).toSorted(), open];
      };
      expect(sorted([...proc, ...shuffled])).toEqual(sorted([...views, ...proc]));
    }),
  );
});
