import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { waitChain } from '../../src/diagnosis/chain.ts';
import type { JudgedFinding } from '../../src/diagnosis/judged-finding.ts';
import type { Link, Part, Verdict } from '../../src/diagnosis/rule.ts';

function finding(
  rule: string,
  links: readonly Link[],
  verdict: Verdict = 'proved',
  kind: JudgedFinding['kind'] = 'stall',
): JudgedFinding {
  const because = [{ entry: 'x', line: 1, text: 'x' }];
  return { rule, title: rule, kind, verdict, says: `${rule}.`, because, next: [], ageMs: 9000, ageFrom: 'x', links };
}

const link = (says: string, about: readonly Part[], waitsFor: readonly Part[] = []): Link => ({
  says,
  about,
  waitsFor,
});

const belief = finding('delete-timeout', [link('CRI still says Running', ['belief:c1'], ['task:c1'])]);
const shim = finding('state-behind-delete', [
  link('goroutine 147 in Unmount', ['task:c1', 'goroutine:5:147'], ['thread:7']),
]);
const umount = finding('overlay-umount-sync', [
  link('thread 7 in umount2', ['thread:7'], ['filesystem:8:1']),
  link('overlay sync on sda1', ['filesystem:8:1'], ['device:sda']),
]);
const disk = finding('disk-capped', [link('sda at 100 %', ['device:sda'])]);

describe('the wait chain', () => {
  it('joins findings of all layers, whatever order they come in, and ends at a cause', () => {
    const whole = waitChain([disk, shim, umount, belief]);
    expect(whole?.sentence).toBe(
      'CRI still says Running ← goroutine 147 in Unmount ← thread 7 in umount2 ← overlay sync on sda1 ← sda at 100 %',
    );
    expect(whole?.endsBefore).toBeNull();
    expect(whole?.steps.map(({ rule }) => rule)).toEqual([
      ...['delete-timeout', 'state-behind-delete', 'overlay-umount-sync', 'overlay-umount-sync', 'disk-capped'],
    ]);
  });

  it('ends where nothing more is proved, and says before what', () => {
    expect(waitChain([shim, belief, umount])).toMatchObject({ endsBefore: 'device sda' });
    expect(waitChain([belief, shim])).toMatchObject({ endsBefore: 'thread 7' });
    expect(waitChain([belief])).toMatchObject({ endsBefore: 'task c1' });
  });

  it('does not jump over a gap', () => {
    const chain = waitChain([belief, shim, disk]);
    expect(chain?.sentence).toBe('CRI still says Running ← goroutine 147 in Unmount');
  });

  it('leaves out what is possible and what is no wait, and says of what is likely that it is', () => {
    const guess = finding('guess', [link('a guess', ['task:c1'], ['device:sda'])], 'possible');
    const context = finding('context', [link('context', ['device:sda'], ['device:sda'])], 'proved', 'context');
    expect(waitChain([guess, context])).toBeNull();
    const likely = { ...shim, verdict: 'likely' as const };
    expect(waitChain([belief, likely, guess])?.sentence).toBe(
      'CRI still says Running ← goroutine 147 in Unmount (likely)',
    );
  });

  it('starts at the pod, though something longer hangs elsewhere on the node', () => {
    const other = finding('other', [
      link('x', ['thread:90'], ['thread:91']),
      link('y', ['thread:91'], ['thread:92']),
      link('z', ['thread:92'], ['device:sda']),
    ]);
    const isOwn = (part: Part) => part === 'thread:7';
    expect(waitChain([other, umount, disk], isOwn)?.steps[0].says).toBe('thread 7 in umount2');
    expect(waitChain([other, umount, disk])?.steps[0].says).toBe('x');
  });

  it('comes to an end where findings wait for each other', () => {
    const a = finding('a', [link('a', ['thread:1'], ['thread:2'])]);
    const b = finding('b', [link('b', ['thread:2'], ['thread:1', 'device:sda'])]);
    expect(waitChain([a, b, disk])?.sentence).toBe('a ← b ← sda at 100 %');
    expect(waitChain([finding('self', [link('self', ['thread:1'], ['thread:1'])])])?.sentence).toBe('self');
  });

  it('is a walk along what waits for what, for any findings', () => {
    const part = fc.integer({ min: 0, max: 6 }).map((n): Part => `thread:${n}`);
    const links = fc.array(
      fc.record({
        says: fc.string(),
        about: fc.array(part, { minLength: 1, maxLength: 2 }),
        waitsFor: fc.array(part, { maxLength: 2 }),
      }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(links, made => {
        const findings = made.map((each, index) => finding(`rule-${index}`, [each]));
        const chain = waitChain(findings);
        const steps = chain?.steps.map(({ rule }) => made[Number(rule.slice(5))]) ?? [];
        expect(new Set(steps).size).toBe(steps.length);
        for (const [index, step] of steps.slice(1).entries()) {
          expect(steps[index]?.waitsFor.some(waited => step?.about.includes(waited))).toBe(true);
        }
      }),
    );
  });
});
