import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENTRY, run } from '../cli/run.ts';
import { fixtureEntries, packed } from '../report/fixture-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'stallcap-report-'));
const bundle = join(folder, 'umount.tar.gz');
const cut = join(folder, 'cut.tar.gz');
const report = (...args: readonly string[]) => run(['report', ...args], { script: ENTRY });

beforeAll(async () => {
  const file = await packed(fixtureEntries('overlay-umount-sync'));
  writeFileSync(bundle, file);
  writeFileSync(cut, file.subarray(0, file.length * 0.8));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('stallcap report', () => {
  it('says what the bundle shows, without colours where nobody looks', () => {
    const { status, stdout, stderr } = report(bundle);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('PROVED: ');
    expect(stdout).not.toContain('\x1b');
  });

  it('answers with one JSON document, with --json and with --format json alike', () => {
    const { stdout } = report(bundle, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ format: 1, outcome: 'stall' });
    expect(JSON.parse(report(bundle, '--format', 'json').stdout)).toEqual(JSON.parse(stdout));
  });

  it('reads standard input', () => {
    const { stdout } = run(['report', '-', '--format', 'html'], {
      script: ENTRY,
      input: readFileSync(bundle) as never,
    });
    expect(stdout).toBe(report(bundle, '--format', 'html').stdout);
  });

  it.each(['md', 'html', 'json'])('writes %s to a file that only its owner can read, and says where', format => {
    const path = join(folder, `out.${format}`);
    const { status, stdout } = report(bundle, '--format', format, '-o', path);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${path}\n` });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(report(bundle, '--format', format).stdout);
  });

  it('tells what it can of a bundle that was cut, and exits with 3', () => {
    const { status, stdout } = report(cut);
    expect(status).toBe(3);
    expect(stdout).toContain('cut before its end');
  });

  it('puts what kubectl says of the pod on the timeline, whatever stands in it', () => {
    const events = join(folder, 'events.txt');
    writeFileSync(
      events,
      `LAST SEEN   TYPE      REASON          OBJECT      MESSAGE
14m         Warning   FailedKillPod   pod/web-0   error killing pod \x1b[31m<script>alert(1)</script>
14m         Warning   Failed          pod/other   of another pod
`,
    );
    const { status, stdout } = report(bundle, '--attach', events, '--json');
    expect(status).toBe(0);
    const told = JSON.parse(stdout).timeline.events.filter(({ layer }: { layer: string }) => layer === 'kubelet');
    expect(told).toMatchObject([
      {
        what: expect.stringMatching(/^FailedKillPod: error killing pod .*, 14m before it was written down$/),
        ...{ of: 'web-0', severity: 'bad', cite: { entry: 'attached/events.txt', line: 2 } },
      },
    ]);
    expect(Date.parse(told[0].at)).toBeCloseTo(statSync(events).mtimeMs - 14 * 60_000, -2);
    expect(report(bundle, '--attach', events).stdout).not.toContain('\x1b');
    const page = report(bundle, '--attach', events, '--format', 'html').stdout;
    expect(page).toContain('FailedKillPod');
    expect(page).not.toContain('<script>');
    expect(report(bundle, '--attach', join(folder, 'none.txt'))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('cannot be attached: ENOENT'),
    });
  });

  it('reads events in YAML, and says what it could not read', () => {
    const events = join(folder, 'events.yaml');
    const item = (name: string, message: string) =>
      `- involvedObject:\n    kind: Pod\n    name: ${name}\n  lastTimestamp: "2026-11-29T11:40:27Z"\n  message: ${message}\n  reason: FailedKillPod\n  type: Warning\n`;
    writeFileSync(
      events,
      `items:\n${item('web-0', 'error killing pod')}${item('other', 'of another pod')}kind: List\n`,
    );
    const good = report(bundle, '--attach', events, '--json');
    expect(good).toMatchObject({ status: 0, stderr: '' });
    const told = JSON.parse(good.stdout).timeline.events.filter(({ layer }: { layer: string }) => layer === 'kubelet');
    expect(told).toMatchObject([
      { what: 'FailedKillPod: error killing pod', cite: { entry: 'attached/events.yaml', line: 6 } },
    ]);
    writeFileSync(events, `items:\n${item('web-0', '"\x1b[31mcut')}`);
    expect(report(bundle, '--attach', events)).toMatchObject({
      status: 0,
      stderr:
        'events.yaml: no events of the pod were read; not all of it is understood: line 9: Missing closing "quote.\n',
    });
  });

  it('refuses what is no bundle, in one sentence', () => {
    writeFileSync(join(folder, 'no.tar.gz'), 'hello');
    const { status, stderr } = report(join(folder, 'no.tar.gz'));
    expect(status).toBe(3);
    expect(stderr).toMatch(/^\S.*\n/);
    expect(stderr).not.toContain('    at ');
    expect(report(join(folder, 'absent.tar.gz')).status).toBe(2);
  });
});
