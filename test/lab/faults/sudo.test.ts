import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STALLCAP } from '../../build/dist.ts';
import { during } from '../during.ts';
import { openBundle } from '../grab/bundle.ts';
import { startStallcap } from '../grab/stallcap.ts';
import { labUnavailable } from '../requirements.ts';
import { run } from '../run.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { stalled } from '../stalls/stall.ts';

/** Somebody without rights, of passwd(5) on every Debian. */
const USER = { name: 'daemon', id: '1' };

/** The line of SECURITY.md, as it stands there. */
const LINE =
  /^```sudoers\n(.*)\n```$/m.exec(readFileSync(join(import.meta.dirname, '../../../SECURITY.md'), 'utf8'))?.[1] ?? '';

/** As sudoers(5) wants a path, which may have a space in it. */
const inSudoers = (path: string) => path.replace(/[ ,:=\\()]/g, '\\$&');

/** sudo reads these rules and no others in a mount namespace of its own. */
const asUser = (rules: string): string[] => [
  ...['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/sudoers && mount -t tmpfs none /etc/sudoers.d && exec "$@"'],
  ...[rules, 'setpriv', '--reuid', USER.id, '--regid', USER.id, '--clear-groups', 'sudo', '-n'],
];

describe.skipIf(labUnavailable())("the sudoers line of SECURITY.md, by sudo's own word", () => {
  it('is well formed, and permits a grab and nothing else', ({ skip }) =>
    during(stalled(runAppPod), async ({ folder, pod }) => {
      const version = await run('sudo', ['--version']).catch(() => null);
      if (version === null) return skip('sudo is not installed');
      const rules = join(folder.path, 'sudoers');
      writeFileSync(rules, `${LINE}\n`, { mode: 0o440 });
      expect(await run('visudo', ['--check', '--file', rules])).toContain('parsed OK');
      expect(LINE).toMatch(/^%oncall .* \/usr\/local\/bin\/stallcap \^/);
      const own = LINE.replace('%oncall', USER.name).replace('/usr/local/bin/stallcap', inSudoers(STALLCAP));
      writeFileSync(join(folder.path, 'own'), `${own}\n`, { mode: 0o440 });
      const sudo = (...args: string[]) =>
        startStallcap(folder, args, { prefix: asUser(join(folder.path, 'own')), cwd: folder.path }).ended;

      const permitted = await sudo('grab', pod.id, '-o', '-');
      expect([0, 3], permitted.stderr).toContain(permitted.exit);
      const { manifest } = await openBundle(permitted.stdout);
      expect(manifest.operator).toMatchObject({ uid: 0, sudoUser: USER.name });
      for (const args of [
        ['grab', pod.id, '--no-redact', '-o', '-'],
        ['grab', pod.id, '-o', '/etc/cron.d/web'],
        ['grab', pod.id, '-o', '-', '--daemons'],
        ['grab', pod.id, '--attach', '/etc/shadow', '-o', '-'],
        ['grab', '--node'],
        ['grab', '-o', '-'],
        ['list'],
        ['redact', '/etc/shadow'],
        [],
      ]) {
        const refused = await sudo(...args);
        expect([refused.exit, refused.stdout.length], args.join(' ')).toEqual([1, 0]);
        expect(refused.stderr, args.join(' ')).toMatch(/^sudo: a password is required$/m);
      }
    }));
});
