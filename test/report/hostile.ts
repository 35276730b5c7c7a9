import { type Entries, fixtureEntries } from './fixture-bundle.ts';

/** What somebody may call a process, a pod or a log line: a script, a way out of an attribute, escapes, bidi overrides. */
export const EVIL = `<script>window.hit=1</script>"'><img src=x onerror=window.hit=1>`;
export const EVIL_BIDI = '\u202edetrevni\u2066 \x1b[31mred\x1b]0;title\x07';
/** 15 characters, as prctl(PR_SET_NAME) takes them. */
const EVIL_COMM = '<svg/onload=a()';

/** The classic stall, with hostile words in every place where a bundle carries words of others. */
export function hostileEntries(): Entries {
  const entries = new Map(fixtureEntries('overlay-umount-sync'));
  const plan = JSON.parse(entries.get('plan.json') ?? '');
  const { sandbox } = plan.target;
  sandbox.pod = { ...sandbox.pod, name: `web ${EVIL}`, namespace: `shop${EVIL_BIDI}` };
  for (const container of sandbox.containers) container.name = `app ${EVIL}`;
  plan.host.hostname = `node ${EVIL}`;
  plan.host.kernel = EVIL;
  entries.set('plan.json', JSON.stringify(plan));
  const manifest = JSON.parse(entries.get('manifest.json') ?? '');
  manifest.notGot = [{ what: EVIL, collector: EVIL, phase: EVIL, outcome: 'error', detail: EVIL + EVIL_BIDI }];
  entries.set('manifest.json', JSON.stringify(manifest));
  for (const [path, text] of entries) {
    if (/threads-\d+\.txt$|blocked\.txt$/.test(path)) {
      entries.set(path, text.replace(/^(===== \d+) \S+/gm, `$1 ${EVIL_COMM.replaceAll('=', '\\x3d')}`));
    }
  }
  const ids = sandbox.containers.map(({ id }: { id: string }) => id);
  const at = new Date(Date.parse(plan.startedAt) - 20_000).toISOString();
  const line = (words: string) =>
    `time="${at}" level=error msg=${JSON.stringify(words)} error=${JSON.stringify(EVIL)}\n`;
  entries.set('logs/containerd.log', ids.map((id: string) => line(`get state for ${id} ${EVIL}${EVIL_BIDI}`)).join(''));
  return entries;
}
