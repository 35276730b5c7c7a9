import { spawn } from 'node:child_process';
import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entryPathProblem } from '../../src/bundle/entry-path.ts';
import { PHASES } from '../../src/collectors/collector.ts';
import { entryPart } from '../../src/collectors/evidence-of.ts';
import { fuseConnections } from '../../src/collectors/fuse-connections.ts';
import { collectors } from '../../src/collectors/index.ts';
import { observer } from '../../src/collectors/observer.ts';
import { createHost } from '../../src/host/linux.ts';
import { broughtBy, CONTAINERD, captureOn, POD, SHIM, textOf } from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

describe('the table of contents', () => {
  it('lists the collectors in order of volatility', () => {
    const places = collectors.map(({ phase }) => PHASES.indexOf(phase));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(new Set(places).size).toBe(PHASES.length);
  });

  it('has no two of one name, and only names that --skip can take', () => {
    const names = collectors.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  it('looks at everything that only looks before the signal', () => {
    const signal = collectors.findIndex(({ phase }) => phase === 'signal');
    expect(collectors.slice(0, signal).every(({ phase }) => phase === 'first-look')).toBe(true);
  });
});

describe('a name that somebody else chose', () => {
  it('is always one part of a path that a bundle takes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), name => {
        expect(entryPathProblem(`containers/${entryPart(name)}`)).toBeNull();
      }),
    );
    expect(['..', '.', '', '../../etc', 'app'].map(entryPart)).toEqual(['_', '_', '_', '.._.._etc', 'app']);
  });
});

describe('the observer', () => {
  it('tells a shim that spins from one that waits, and what stallcap itself uses', async () => {
    const spinning = spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
    const waiting = spawn('sleep', ['600'], { stdio: 'ignore' });
    const host = createHost();
    try {
      const shims = [spinning, waiting].map(({ pid }, index) => ({ ...SHIM, pid: pid as number, id: `shim${index}` }));
      const brought = await broughtBy(observer, captureOn(host, { sandbox: { ...POD, shims }, daemons: [] }));
      const rows = textOf(brought, 'node/observer.txt')
        .split('\n')
        .map(line => line.split('\t'));
      const percent = (pid: number | undefined) => Number(rows.find(([first]) => first === String(pid))?.[1]);
      expect(percent(spinning.pid)).toBeGreaterThan(5);
      expect(percent(waiting.pid)).toBe(0);
      expect(rows.find(([first]) => first === String(process.pid))?.at(-1)).toBe('stallcap');
      expect(brought.get('node/observer.txt')).toMatchObject({ outcome: 'ok' });
    } finally {
      spinning.kill('SIGKILL');
      waiting.kill('SIGKILL');
      await host.close();
    }
  });

  it('leaves out a process that is gone', async () => {
    const host = createHost();
    try {
      const gone = { ...CONTAINERD, pid: 0x7fff_fff0 };
      const text = textOf(await broughtBy(observer, captureOn(host, { daemons: [gone] })), 'node/observer.txt');
      expect(text).not.toContain('containerd');
      expect(text).toContain(`${process.pid}\t`);
    } finally {
      await host.close();
    }
  });
});

describe('FUSE connections', () => {
  it('tell how many requests wait for each server', async () => {
    const paper = new PaperHost({
      '/sys/fs/fuse/connections/52/waiting': '3\n',
      '/sys/fs/fuse/connections/52/abort': '',
    });
    expect(textOf(await broughtBy(fuseConnections, captureOn(paper.host)), 'node/fuse.txt')).toBe(
      '==> /sys/fs/fuse/connections/52/waiting <==\n3\n',
    );
    // Writing to it ends the connection; nobody opens it.
    expect(paper.asked.filter(({ path }) => path.endsWith('abort'))).toEqual([]);
  });

  it('are absent where there are none', async () => {
    const brought = await broughtBy(fuseConnections, captureOn(new PaperHost().host));
    expect(brought.get('node/fuse.txt')).toMatchObject({ outcome: 'absent' });
  });
});
