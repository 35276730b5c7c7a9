import { formatDuration, formatSize } from '../../formats/duration.ts';
import { wrap } from '../terminal/wrap.ts';
import { placeOf } from '../words.ts';
import type { Difference, Side } from './diff.ts';
import type { Pair } from './rates.ts';

/** What changed, for a terminal of 80 columns. */
export function diffText(diff: Difference): string {
  const sections = [head(diff), threads(diff), goroutines(diff), views(diff), findings(diff), rates(diff)];
  return `${sections
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')}\n`;
}

function head({ a, b, elapsedMs, comparable }: Difference): readonly string[] {
  const side = (name: string, { target, startedAt, headline }: Side) =>
    wrap(`${target}, ${startedAt.slice(0, 19).replace('T', ' ')} UTC: ${headline}`, `${name}  `);
  const order = elapsedMs < 0 ? 'B is older than A, by' : 'Between them:';
  const note = comparable
    ? []
    : wrap('Not the same pod on the same boot of the same node: only their findings are compared.');
  return [...side('A', a), ...side('B', b), `${order} ${formatDuration(Math.abs(elapsedMs))}`, ...note];
}

function threads({ unmoved, freed, stuck, comparable }: Difference): readonly string[] {
  if (!comparable) return [];
  return [
    'Threads',
    ...(unmoved.length + freed.length + stuck.length === 0 ? ['  none waits in vain in either'] : []),
    ...unmoved.flatMap(({ tid, comm, where, blockedForMs, cite }) => {
      const age = blockedForMs === null ? '' : `, for ${formatDuration(blockedForMs)} by now`;
      return wrap(`${comm} ${tid} has not moved: ${where}${age} (${placeOf(cite)})`, '  = ');
    }),
    ...stuck.flatMap(({ tid, comm, where, cite }) =>
      wrap(`${comm} ${tid} waits now: ${where} (${placeOf(cite)})`, '  + '),
    ),
    ...freed.flatMap(({ tid, comm, was, now }) =>
      wrap(`${comm} ${tid} was ${was}, and ${now === null ? 'is gone' : `is now ${now}`}`, '  - '),
    ),
  ];
}

function goroutines({ goroutines: { aged, multiplied } }: Difference): readonly string[] {
  if (aged.length + multiplied.length === 0) return [];
  return [
    'Goroutines',
    ...aged.flatMap(({ shimPid, id, rpc, minutes, at }) => {
      const age = minutes === null ? '' : `, ${minutes} min`;
      return wrap(`${rpc} of shim ${shimPid} (goroutine ${id}${age}) is still at ${at}`, '  = ');
    }),
    ...multiplied.flatMap(({ at, before, after }) => wrap(`${before} -> ${after} at ${at}`, '  + ')),
  ];
}

function views({ views: changed }: Difference): readonly string[] {
  if (changed.length === 0) return [];
  const rows = changed.flatMap(({ container, source, before, after }) =>
    wrap(`${container}: ${source} says ${after ?? 'nothing'}, and said ${before ?? 'nothing'}`, '  '),
  );
  return ['What sources believe', ...rows];
}

function findings({ findings: { stayed, ended, new: added } }: Difference): readonly string[] {
  const line = (sign: string, rules: readonly string[]) =>
    rules.length === 0 ? [] : wrap(rules.join(', '), `  ${sign} `);
  const lines = [...line('=', stayed), ...line('+', added), ...line('-', ended)];
  return lines.length === 0 ? [] : ['Findings', ...lines];
}

function rates({ rates: { devices, dirtyBytes, stateTimeouts } }: Difference): readonly string[] {
  const words = ({ before, after }: Pair, show: (value: number) => string) =>
    `${before === null ? '?' : show(before)} -> ${after === null ? '?' : show(after)}`;
  const size = (value: number) => `${formatSize(value)}/s`;
  const rows = devices.flatMap(({ name, writtenBytesPerSecond, readBytesPerSecond, utilPercent, awaitMs }) =>
    wrap(
      `${name}: busy ${words(utilPercent, value => `${value.toFixed(0)} %`)}, written ${words(writtenBytesPerSecond, size)}, ` +
        `read ${words(readBytesPerSecond, size)}, a request ${words(awaitMs, formatDuration)}`,
      '  ',
    ),
  );
  const more = [
    ...(dirtyBytes === null ? [] : wrap(`dirty pages: ${words(dirtyBytes, formatSize)}`, '  ')),
    ...(stateTimeouts === null
      ? []
      : wrap(`State timeouts per minute: ${words(stateTimeouts, value => value.toFixed(1))}`, '  ')),
  ];
  return rows.length + more.length === 0 ? [] : ['Rates, A -> B', ...rows, ...more];
}
