import { parseObject, stringAt, stringsAt } from '../../formats/runtime/json.ts';
import { cite } from '../citation.ts';
import type { CommandFact } from '../facts.ts';
import type { Entries } from './entries.ts';

const LOG = /^runtime\/(\w+)-commands(?:-\d+)?\.jsonl$/;

/** Each question to crictl, ctr and docker, how it ended and how long it took. */
export function commandsFrom(entries: Entries): readonly CommandFact[] | null {
  const paths = entries.matching(LOG);
  if (paths.length === 0) return null;
  return paths.flatMap(path => {
    const tool = LOG.exec(path)?.[1] ?? '';
    const lines = entries.text(path)?.split('\n') ?? [];
    return lines.flatMap((line, index): readonly CommandFact[] => {
      const answer = parseObject(line);
      const outcome = answer === null ? null : stringAt(answer, 'outcome');
      if (answer === null || outcome === null) return [];
      const number = (key: string) => (typeof answer[key] === 'number' ? answer[key] : null);
      const offsetMs = number('offsetMs');
      const argv = stringsAt(answer, 'argv');
      return [
        {
          ...{ tool, argv, outcome, exitCode: number('exitCode'), durationMs: number('durationMs') ?? 0 },
          what: questionIn(argv),
          at: offsetMs === null ? null : entries.plan.startedAt + offsetMs,
          stderr: stringAt(answer, 'stderr') ?? '',
          cite: cite(path, index + 1, `${argv.join(' ')}: ${outcome}, ${Math.round(number('durationMs') ?? 0)} ms`),
        },
      ];
    });
  });
}

/** The words behind the flags: `inspect 4f5e…`, `containers ls`. */
function questionIn(argv: readonly string[]): string {
  const from = argv.findLastIndex(
    (word, index) => index > 0 && (argv[index - 1]?.startsWith('--') === true || word.startsWith('-')),
  );
  return argv.slice(from + 1).join(' ');
}
