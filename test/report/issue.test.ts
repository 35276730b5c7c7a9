import { describe, expect, it } from 'vitest';
import { issueText, MAX_ISSUE } from '../../src/report/issue/issue-text.ts';
import { FIXTURE_KINDS, judgedFixture, judgedFrom } from './fixture-bundle.ts';
import { hostileEntries } from './hostile.ts';

describe('an issue for containerd', () => {
  it('has what its maintainers ask for', () => {
    const issue = issueText(judgedFixture('overlay-umount-sync'));
    expect(issue).toContain('kernel 6.');
    expect(issue).toMatch(/containerd-shim \d+ \(shim\) D wb_wait_for_completion umount2/);
    expect(issue).toContain('ovl_sync_fs');
    expect(issue).toContain('### Goroutines of shim');
    expect(issue).toContain('### Disks');
    expect(issue).toContain("### runc's processes");
  });

  it.each(FIXTURE_KINDS)('about %s fits, names no pod, and leaves no block open', kind => {
    const { facts, report } = judgedFixture(kind);
    const issue = issueText({ facts, report });
    expect(issue.length).toBeLessThan(MAX_ISSUE);
    expect(issue).not.toContain('web-0');
    expect((issue.match(/^```/gm) ?? []).length % 2).toBe(0);
  });

  it('prints a stack once, however many stand in it', () => {
    const { facts, report } = judgedFixture('overlay-umount-sync');
    const all = facts.threads?.all ?? [];
    const stuck = all.find(({ call }) => call?.name === 'umount2');
    if (facts.threads === null || stuck === undefined) throw new Error('the fixture has no thread in umount2');
    const many = Array.from({ length: 200 }, (_, index) => ({ ...stuck, tid: 90_000 + index }));
    const threads = { ...facts.threads, all: [...all, ...many] };
    const issue = issueText({ facts: { ...facts, threads }, report: { ...report, findings: [], chain: null } });
    expect(issue.match(/cleanup_mnt/g)).toHaveLength(1);
    expect(issue).toContain('and 191 more');
  });

  it('is cut where it must be, and says what was cut', () => {
    const { facts, report } = judgedFixture('overlay-umount-sync');
    const [dump] = facts.goroutines ?? [];
    const [group] = dump?.groups ?? [];
    if (dump === undefined || group === undefined) throw new Error('the fixture has no goroutines');
    const groups = Array.from({ length: 3000 }, () => group);
    const issue = issueText({ facts: { ...facts, goroutines: [{ ...dump, groups }] }, report });
    expect(issue.length).toBeLessThan(MAX_ISSUE);
    expect(issue).toMatch(/Cut to fit into an issue: .*Goroutines/);
    expect((issue.match(/^```/gm) ?? []).length % 2).toBe(0);
  });

  it('of a hostile bundle has no tag of the bundle outside of code', () => {
    const issue = issueText(judgedFrom(hostileEntries()));
    const bare = issue.replace(/^```[\s\S]*?^```/gm, '').replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
    expect(bare.match(/(?<!\\)<(?!\/?details>)\w/g)).toBe(null);
  });
});
