import { readdirSync } from 'node:fs';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { lookAt } from '../../../src/host/look.ts';
import { sweepFrame, sweepProcess } from '../../../src/host/probe/sweep.ts';

describe('a process with more threads than are read in the time that a probe may be silent', () => {
  const threads = () => readdirSync('/proc/self/task').length;

  it('is read with a sign of life after each of them, for its rows and for its blocks', () => {
    let signs = 0;
    const swept = sweepProcess({ pid: process.pid }, sweepFrame([process.pid], []), () => {
      signs += 1;
    });
    expect(swept.threads).toBeGreaterThan(1);
    expect(signs).toBe(2 * swept.threads);
    expect(swept.rows.trimEnd().split('\n')).toHaveLength(swept.threads);
  });

  it('is looked at in the same way', () => {
    let signs = 0;
    const look = lookAt(process.pid, {
      safe: false,
      onThread() {
        signs += 1;
      },
    });
    expect(signs).toBe(look.threads.length);
    expect(signs).toBeGreaterThanOrEqual(Math.min(2, threads()));
  });
});
