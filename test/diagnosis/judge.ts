/** One rule tried on facts, as the engine does it; and facts out of dumps in test/fixtures/goroutines. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { diagnose } from '../../src/diagnosis/diagnose.ts';
import { daemonGoroutinesFrom } from '../../src/diagnosis/facts/daemon-goroutines.ts';
import type { Entries } from '../../src/diagnosis/facts/entries.ts';
import { goroutinesFrom } from '../../src/diagnosis/facts/goroutines.ts';
import type { DaemonGoroutines, Facts, PodThreads, ShimGoroutines } from '../../src/diagnosis/facts.ts';
import type { JudgedFinding } from '../../src/diagnosis/judged-finding.ts';
import type { AnyRule } from '../../src/diagnosis/rule.ts';
import { SHIM_PID, STARTED_AT } from './facts-of.ts';

/** What the rule finds; none when it is not applicable. Each finding cites something and says what to do. */
export function judge(rule: AnyRule, facts: Facts): readonly JudgedFinding[] {
  const { findings, failed } = diagnose(facts, [rule]);
  expect(failed).toEqual([]);
  for (const { because, next, says } of findings) {
    expect(because.length).toBeGreaterThan(0);
    expect(next.length).toBeGreaterThan(0);
    expect(says).toMatch(/^\S.*[.]$/s);
    expect(says).not.toMatch(/undefined|null|NaN/);
  }
  return findings;
}

const FIXTURES = new URL('../fixtures/goroutines/', import.meta.url);

/** A dump of the shim, by the name of its fixture: made into facts as that of a bundle is. */
export function shimDump(fixture: string, threads: PodThreads | null = null): ShimGoroutines {
  return shimDumpOf(readFileSync(new URL(`shim-${fixture}.txt`, FIXTURES), 'utf8'), threads);
}

/** The same of a text, for dumps that were written by hand. */
export function shimDumpOf(text: string, threads: PodThreads | null = null): ShimGoroutines {
  const [dump] = goroutinesFrom(entriesWith({ 'shim/goroutines.txt': text }), threads) ?? [];
  if (dump === undefined) throw new Error('no dump in this text');
  return dump;
}

export const CONTAINERD_PID = 812;

/** Dumps of containerd, one after another, `gapMs` apart. */
export function containerdDumps(fixtures: readonly string[], gapMs = 10_000): readonly DaemonGoroutines[] {
  const texts = fixtures.map((fixture, index): [string, string] => {
    return [
      `daemons/containerd-${CONTAINERD_PID}-${index + 1}.txt`,
      readFileSync(new URL(`containerd-${fixture}.txt`, FIXTURES), 'utf8'),
    ];
  });
  const dumps = daemonGoroutinesFrom(entriesWith(Object.fromEntries(texts))) ?? [];
  return dumps.map((dump, index) => ({ ...dump, at: STARTED_AT + index * gapMs }));
}

/** As much of a bundle's entries as the extractors of dumps ask for. */
function entriesWith(texts: Readonly<Record<string, string>>): Entries {
  const target = { kind: 'sandbox', sandbox: { shims: [{ pid: SHIM_PID }] } };
  return {
    plan: { target } as unknown as Entries['plan'],
    manifest: null,
    text: path => texts[path] ?? null,
    matching: form => Object.keys(texts).filter(path => form.test(path)),
    item: () => null,
  };
}
