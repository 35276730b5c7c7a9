import { StringDecoder } from 'node:string_decoder';

/** Takes the lines of one entry as they pass by; `number` from 1. */
export type LineReader = (line: string, number: number) => void;

/** What a sink is given: pieces of an entry, and its end. */
export interface Sink {
  write(chunk: Uint8Array): void;
  end(): void;
}

/** A line longer than this is given in part: a sample of 400 cgroups has some MB. */
const MAX_LINE = 16 * 1024 * 1024;

/** Cuts an entry into lines without keeping it. The last line may have no end. */
export function lineSink(read: LineReader, maxLine = MAX_LINE): Sink {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 0;
  const take = (text: string) => {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      number += 1;
      read(rest === '' ? text.slice(from, end) : rest + text.slice(from, end), number);
      rest = '';
      from = end + 1;
    }
    if (rest.length < maxLine) rest += text.slice(from);
  };
  return {
    write: chunk => take(decoder.write(chunk as Buffer)),
    end() {
      take(decoder.end());
      if (rest !== '') read(rest, number + 1);
    },
  };
}

/** Keeps an entry as text, up to a size; what is beyond is dropped at the end of a line. */
export function textSink(maxBytes: number, done: (text: string, whole: boolean) => void): Sink {
  const decoder = new StringDecoder('utf8');
  const parts: string[] = [];
  let left = maxBytes;
  let whole = true;
  return {
    write(chunk) {
      if (chunk.length > left) whole = false;
      const piece = chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= piece.length;
      if (piece.length > 0) parts.push(decoder.write(piece as Buffer));
    },
    end() {
      const text = parts.join('') + (whole ? decoder.end() : '');
      done(whole ? text : text.slice(0, text.lastIndexOf('\n') + 1), whole);
    },
  };
}
