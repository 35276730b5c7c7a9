import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rules } from '../../../src/diagnosis/rules/index.ts';

const PAGES = new URL('../../../docs/rules/', import.meta.url);
const names = readdirSync(PAGES).filter(name => name.endsWith('.md'));
const byId = new Map(rules.map(rule => [rule.id, rule]));

describe('the pages on rules', () => {
  it('are one for each rule', () => {
    expect([...byId.keys()].toSorted()).toEqual(names.map(name => name.slice(0, -3)).toSorted());
  });

  it.each(names)('%s is about a rule, under its title', name => {
    const id = name.slice(0, -3);
    const [heading, , shown] = readFileSync(new URL(name, PAGES), 'utf8').split('\n');
    expect(heading).toBe(`# ${byId.get(id)?.title}`);
    expect(shown).toBe(`\`${id}\``);
  });

  it.each(names)('%s says what it means, what only resembles it, and what to do', name => {
    const text = readFileSync(new URL(name, PAGES), 'utf8');
    for (const section of ['What it means', 'What to do', 'References']) expect(text).toContain(`\n## ${section}\n`);
    expect(text).toMatch(/\n## (?:What only resembles it|What it rests on)\n/);
  });

  it.each(names)('%s leads to pages that exist', name => {
    const text = readFileSync(new URL(name, PAGES), 'utf8');
    const links = [...text.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, target]) => target);
    expect(links.filter(target => target === undefined || !names.includes(target))).toEqual([]);
  });
});
