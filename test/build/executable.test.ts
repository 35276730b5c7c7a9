import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { unescaped } from '../lab/strace.ts';
import { RUNTIME_PATHS, STALLCAP } from './dist.ts';

const BUNDLE = join(import.meta.dirname, '../../examples/incidents/umount-sync/bundle.tar.gz');

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(STALLCAP, args, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

describe('the executable', () => {
  it('says its version and the runtime in it', () => {
    const { status, stdout, stderr } = run(['--version']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(`stallcap ${manifest.version} (node ${process.version}, linux-${process.arch})\n`);
  });

  it('is the same program as the sources', () => {
    expect(run(['help']).stdout).toContain('COMMANDS\n');
    expect(run(['nope'])).toMatchObject({ status: 2, stderr: expect.stringContaining("no command 'nope'") });
  });

  it('finds its code cache accepted, whatever the environment asks of node', () => {
    for (const NODE_OPTIONS of ['', '--no-opt --max-old-space-size=64', '--require=/nowhere/hook.js']) {
      const { status, stderr } = run(['help'], { STALLCAP_REPORT_LOAD: '1', NODE_OPTIONS });
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: expect.stringMatching(/^load program: cache accepted, [\d.]+ ms\n$/),
      });
    }
  });

  it('loads what few want for them alone: charts for a page, YAML for events in it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stallcap-loads-'));
    try {
      const events = join(folder, 'events.yaml');
      writeFileSync(events, 'items:\n- message: too late\n  reason: FailedKillPod\n  type: Warning\n');
      const loads = (...args: readonly string[]) => {
        const { stderr } = run(['report', BUNDLE, ...args], { STALLCAP_REPORT_LOAD: '1' });
        return [...stderr.matchAll(/^load (\w+): cache accepted/gm)].map(([, name]) => name);
      };
      expect(loads()).toEqual(['program']);
      expect(loads('--format', 'html')).toEqual(['program', 'page']);
      expect(loads('--attach', events)).toEqual(['program', 'yaml']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('needs neither HOME, SHELL nor PATH, nor a folder that still exists', () => {
    const gone = 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exec env -i "$0" help';
    const { status, stdout } = spawnSync('sh', ['-c', gone, STALLCAP], { encoding: 'utf8' });
    expect({ status, starts: stdout.startsWith('Capture why') }).toEqual({ status: 0, starts: true });
  });

  it('opens nothing on a disk but itself and what its runtime opens', ({ skip }) => {
    // Nothing of the environment that sends a loader or a runtime to other places (LD_LIBRARY_PATH, NODE_EXTRA_CA_CERTS).
    const { error, stderr } = spawnSync('strace', ['-f', '-qq', '-e', 'trace=file', STALLCAP, 'help'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    skip(error !== undefined, 'strace is not installed');
    const paths = [
      ...stderr.matchAll(/^(?:\[pid +\d+\] )?(?:open|openat|stat|newfstatat|statx|access|readlink)\([^"]*"([^"]+)"/gm),
    ].map(match => unescaped(match[1] ?? ''));
    expect(paths).toContain('/proc/meminfo');
    const parents = ['/etc', '/usr', '/usr/share', '/lib', '/lib64'];
    expect(paths.filter(path => path !== STALLCAP && !RUNTIME_PATHS.test(path) && !parents.includes(path))).toEqual([]);
  });
});
