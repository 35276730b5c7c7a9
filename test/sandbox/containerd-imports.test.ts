import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesGlob } from '../../src/sandbox/containerd-imports.ts';

/** The same by a regular expression, which is right, and slow on many stars. */
function byPattern(name: string, glob: string): boolean {
  const literal = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(name);
}

describe('a glob among the imports', () => {
  it('matches what a pattern would', () => {
    const of = (letters: string) =>
      fc.array(fc.constantFrom(...letters), { maxLength: 9 }).map(chosen => chosen.join(''));
    fc.assert(
      fc.property(of('ab.'), of('ab.*?'), (name, glob) => {
        expect(matchesGlob(name, glob)).toBe(byPattern(name, glob));
      }),
      { numRuns: 2000 },
    );
    expect(matchesGlob('10-cri.toml', '*.toml')).toBe(true);
    expect(matchesGlob('10-cri.toml.bak', '*.toml')).toBe(false);
  });

  it('of a hundred stars is done at once, also with the longest name', () => {
    const began = process.threadCpuUsage().user;
    expect(matchesGlob('a'.repeat(255), `${'*a'.repeat(100)}*b`)).toBe(false);
    expect((process.threadCpuUsage().user - began) / 1000).toBeLessThan(1000);
  });
});
