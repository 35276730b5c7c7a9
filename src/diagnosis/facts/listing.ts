import { unescapeLine } from '../../formats/escape.ts';
import { cite } from '../citation.ts';
import type { FileTimes } from '../facts.ts';

/** A line of a directory listing (`listing` of the collectors): null times for what was not there, or not looked at. */
export interface Listed {
  readonly name: string;
  readonly type: string | null;
  readonly times: FileTimes | null;
  /** Why there are no times: `not there`, `timeout`, `not looked at: a mount`. */
  readonly remark: string | null;
}

const LINE = /^(\w+) [0-7]{4} uid=\d+ size=(\d+) mtime=(\S+) ctime=(\S+) inode=\d+ device=\S+ (.*)$/;
const NONE = /^\(([^)]*)\) (.*)$/;

/** `file 0600 uid=0 size=8984 mtime=… ctime=… inode=… device=26 state.json`. */
export function parseListing(path: string, text: string): readonly Listed[] {
  return text.split('\n').flatMap((line, index): readonly Listed[] => {
    const [, type = '', size, mtime = '', ctime = '', shown = ''] = LINE.exec(line) ?? [];
    if (size !== undefined) {
      const name = unescapeLine(type === 'link' ? shown.replace(/ -> .*$/s, '') : shown);
      const times = { mtime: Date.parse(mtime), ctime: Date.parse(ctime), size: Number(size) };
      if (Number.isNaN(times.mtime + times.ctime)) return [{ name, type, times: null, remark: 'a time that is none' }];
      return [{ name, type, times: { ...times, cite: cite(path, index + 1, line) }, remark: null }];
    }
    const [, remark = null, name] = NONE.exec(line) ?? [];
    return name === undefined ? [] : [{ name: unescapeLine(name), type: null, times: null, remark }];
  });
}

/** Null for a file that is not listed, or without times. */
export function timesOf(listed: readonly Listed[], name: string): FileTimes | null {
  return listed.find(file => file.name === name)?.times ?? null;
}
