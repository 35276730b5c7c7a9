import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inOrder, journalMatches, readJournal } from '../../../src/collectors/logs/journal.ts';
import { captureOn } from '../capture-on.ts';
import { PaperHost } from '../paper-host.ts';

describe('a journal that was read in reverse', () => {
  it('is put into order, entry by entry, the further lines of one left behind its first', () => {
    const entry = fc.record({
      text: fc.stringMatching(/^[a-z0-9]{1,8}$/),
      more: fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), entries => {
        const lines = entries.map(
          ({ text, more }, index) => `2026-${index} ${text}\n${more.map(line => `     ${line}\n`).join('')}`,
        );
        expect(inOrder(Buffer.from(lines.toReversed().join(''))).toString()).toBe(lines.join(''));
      }),
    );
  });

  it('loses what was cut in the middle of a line: the oldest entry of all', () => {
    expect(inOrder(Buffer.from('c 3\nb 2\n   more of b\na 1 to')).toString()).toBe('b 2\n   more of b\nc 3\n');
    expect(inOrder(Buffer.from('cut')).length).toBe(0);
    expect(inOrder(Buffer.alloc(0)).length).toBe(0);
  });

  it('is what journalctl prints without --reverse: a captured one turned round and back', () => {
    const text = readFileSync(new URL('../../fixtures/journal/split-dump.short-iso', import.meta.url), 'utf8');
    const entries = text.split(/^(?! )/m).filter(Boolean);
    expect(entries.length).toBeGreaterThan(1);
    expect(inOrder(Buffer.from(entries.toReversed().join(''))).toString()).toBe(text);
  });
});

describe('the question to the journal', () => {
  it('is for the newest part since --since, in full', async () => {
    const paper = new PaperHost();
    paper.answer = () => ({ stdout: 'b\na\n' });
    const result = await readJournal(captureOn(paper.host, { options: { sinceMs: 60_000 } }), '', ['--unit=x.service']);
    const since = Date.parse(paper.startedAt) / 1000 - 60;
    expect(paper.commands.map(argv => argv.join(' '))).toEqual([
      `journalctl --no-pager --quiet --all --reverse --output=short-iso-precise --since=@${since} --unit=x.service`,
    ]);
    expect(result.stdout.toString()).toBe('a\nb\n');
  });

  it('is put again in words that an old systemd knows', async () => {
    const paper = new PaperHost();
    paper.answer = argv =>
      argv.includes('--output=short-iso-precise')
        ? { outcome: 'error', exitCode: 1, stderr: "Unknown output format 'short-iso-precise'.\n" }
        : { stdout: 'a\n' };
    const result = await readJournal(captureOn(paper.host), '', ['--unit=x.service']);
    expect(result).toMatchObject({ outcome: 'ok', stdout: Buffer.from('a\n') });
    expect(paper.commands).toHaveLength(2);
  });

  it.each([
    ['0::/system.slice/containerd.service\n', '--unit=containerd.service'],
    ['1:name=systemd:/system.slice/k3s.service/kubelet\n0::/\n', '--unit=k3s.service'],
    ['9:name=systemd:/\n0::/\n', '_PID=812'],
    ['0::/user.slice/session-1.scope\n', '_PID=812'],
  ])('of a daemon with the cgroup %j is for %s', async (cgroup, match) => {
    const paper = new PaperHost({ '/proc/812/cgroup': cgroup });
    expect(await journalMatches(captureOn(paper.host), 812)).toEqual([match]);
  });
});
