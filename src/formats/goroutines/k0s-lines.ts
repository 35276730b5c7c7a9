/**
 * k0s passes on what containerd writes to its stderr as lines of its own log, one for each, with the line quoted once more:
 * `time="…" level=info msg="time=\\"…\\" level=info msg=…" component=containerd stream=stderr`. One that is longer than its buffer comes
 * in several, numbered `chunk=1`, `chunk=2`, … (k0s pkg/supervisor/logwriter.go).
 */
import { parseLogrusText } from '../logs/logrus.ts';
import { type DumpLine, NO_CONTEXT } from './dump-line.ts';

const SUPERVISED = / component=containerd stream=std(?:err|out)\s*$/;

export function isSupervised(content: string): boolean {
  return content.startsWith('time="') && SUPERVISED.test(content.slice(-200));
}

/** The same lines with containerd's own in the place of k0s', pieces joined at the place of the first. */
export function unsupervised(lines: readonly DumpLine[]): readonly DumpLine[] {
  const unwrapped: { -readonly [key in keyof DumpLine]: DumpLine[key] }[] = [];
  const last = new Map<string, (typeof unwrapped)[number]>();
  for (const line of lines) {
    const layer = isSupervised(line.content) ? parseLogrusText(line.content, NO_CONTEXT) : null;
    if (layer === null) {
      unwrapped.push(line);
      continue;
    }
    const origin = `${line.origin} containerd ${layer.fields?.get('stream')}`;
    const begun = last.get(origin);
    if (Number(layer.fields?.get('chunk') ?? 1) > 1 && begun !== undefined) {
      begun.content += layer.message;
      begun.end = line.end;
      continue;
    }
    const first = { ...line, content: layer.message, origin };
    last.set(origin, first);
    unwrapped.push(first);
  }
  return unwrapped;
}
