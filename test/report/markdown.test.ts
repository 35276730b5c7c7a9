import { describe, expect, it } from 'vitest';
import { code, reportMarkdown, text } from '../../src/report/markdown.ts';
import { judgedFixture, judgedFrom } from './fixture-bundle.ts';
import { hostileEntries } from './hostile.ts';

describe('Markdown', () => {
  it.each([
    ['<script>alert(1)</script>', '\\<script\\>alert(1)\\</script\\>'],
    ['[click](http://a.b)', '\\[click\\](http:\\//a.b)'],
    ['a | b', 'a \\| b'],
    ['line\nforged', 'line\\\\nforged'],
  ])('is not made by %j', (words, expected) => expect(text(words)).toBe(expected));

  it('mentions nobody', () => expect(text('@somebody')).not.toContain('@s'));

  it.each([
    ['a `b` c', '`` a `b` c ``'],
    ['``', '``` `` ```'],
    ['plain', '`plain`'],
  ])('quotes %j as code that ends where it should', (words, expected) => expect(code(words)).toBe(expected));

  it('has the finding, its evidence with entry and line, and the next steps', () => {
    const page = reportMarkdown(judgedFixture('overlay-umount-sync').report);
    expect(page).toMatch(/^# shop\/web-0 on node-1/);
    expect(page).toMatch(/- `shim\/threads-4\.txt:\d+`: `\[<0>\] ovl_sync_fs/);
    expect(page).toContain('Next:');
  });

  it('of a hostile bundle has no tag outside of code', () => {
    const page = reportMarkdown(judgedFrom(hostileEntries()).report);
    const bare = page.replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
    expect(bare).toContain('script');
    expect(bare.match(/(?<!\\)<\w/g)).toBe(null);
  });
});
