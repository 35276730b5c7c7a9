import { collectors } from '../collectors/index.ts';
import { EXIT, StallcapError } from '../errors.ts';
import { printable } from '../formats/escape.ts';

/**
 * The names in `--skip a,b`.
 *
 * @throws StallcapError `bad-value` (2) for one that no collector has: what was to be left alone, a signal even, would be done
 */
export function skippedCollectors(given: string): readonly string[] {
  const names = given
    .split(',')
    .map(name => name.trim())
    .filter(Boolean);
  const known = collectors.map(({ name }) => name);
  const unknown = names.find(name => !known.includes(name));
  if (unknown === undefined) return names;
  throw new StallcapError(`There is no collector called '${printable(unknown)}', so it cannot be left out.`, {
    code: 'bad-value',
    exit: EXIT.usage,
    next: [`These there are: ${known.toSorted().join(', ')}`],
  });
}
