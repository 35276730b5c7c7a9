import { redactText } from '../../bundle/redact/redact.ts';
import type { Facts, ShimGoroutines, Thread } from '../../diagnosis/facts.ts';
import { formatDuration } from '../../formats/duration.ts';
import { printable } from '../../formats/escape.ts';
import { nearestIsoTime } from '../../formats/iso-time.ts';
import { code, text } from '../markdown.ts';
import type { Judged } from '../read-report.ts';
import type { Report } from '../report.ts';
import { containerLabel, sourcesOf } from '../views.ts';
import { clock, OUTCOME_WORDS, placeOf, versionWords, viewWords } from '../words.ts';
import { anonymous } from './anonymous.ts';

/** GitHub takes no issue of more than 65,536 characters. */
export const MAX_ISSUE = 60_000;
const MAX_LOG_LINES = 60;

/**
 * An issue for containerd's maintainers with what they always ask for: versions, the shim's goroutines, the stacks of every thread
 * that stands, runc's children and since when, what each source believed at one moment, the disk's numbers, the log by id. Secrets
 * are looked for once more, and names of pods, hosts and namespaces are replaced: it is going to be public.
 */
export function issueText({ facts, report }: Pick<Judged, 'facts' | 'report'>): string {
  const sections: readonly (() => string)[] = [
    () => head(report),
    () => evidence(report),
    () => threadStacks(facts),
    () => runcChildren(facts),
    () => views(report),
    () => disks(facts),
    () => (facts.goroutines ?? []).map(goroutines).join('\n\n'),
    () => logs(facts),
    () => lacking(report),
  ];
  const clean = anonymous(facts);
  let issue = '';
  const left: string[] = [];
  for (const section of sections) {
    const words = redactText(clean(section())).trim();
    if (words === '') continue;
    const room = MAX_ISSUE - issue.length - 400;
    if (words.length > room) left.push(words.slice(0, words.indexOf('\n')).replace(/^#+ /, ''));
    const cut = words.length <= room ? words : closed(words.slice(0, Math.max(room, 0)));
    issue += cut === '' ? '' : `${cut}\n\n`;
  }
  const note = left.length === 0 ? '' : `Cut to fit into an issue: ${left.join(', ')}. The bundle has all of it.\n`;
  return `${issue}${note}`.trimEnd().concat('\n');
}

/** A block of code that was cut in the middle is closed. */
function closed(words: string): string {
  const whole = words.slice(0, words.lastIndexOf('\n'));
  return (whole.match(/^```/gm) ?? []).length % 2 === 1 ? `${whole}\n\`\`\`` : whole;
}

function head(report: Report): string {
  const { capture, outcome, headline, chain } = report;
  const { host } = capture;
  const waits = chain === null ? [] : ['**Who waits for whom:**', text(chain.sentence)];
  return [
    '### Description',
    outcome === 'none' ? text(headline) : `${OUTCOME_WORDS[outcome]}: ${text(headline)}`,
    ...waits,
    '### Versions and node',
    `${text(versionWords(capture))}; ${text(host.architecture)}, ${host.cpus} CPUs. Captured ${capture.startedAt} by stallcap.`,
  ].join('\n\n');
}

function evidence({ findings }: Report): string {
  if (findings.length === 0) return '';
  const all = findings.map(({ title, verdict, because }) => {
    const lines = because.map(citation => `  - ${code(placeOf(citation))}: ${code(citation.text)}`).join('\n');
    return `- ${text(title)} (${verdict})\n${lines}`;
  });
  return `### What was found\n\n${all.join('\n')}`;
}

/** Code of several lines; nothing in it ends it. */
function block(lines: readonly string[]): string {
  const safe = lines.map(line => printable(line).replaceAll('```', "'''"));
  return `\`\`\`\n${safe.join('\n')}\n\`\`\``;
}

/** The same stack is printed once, with all threads that have it. */
function threadStacks({ threads, nodeThreads }: Facts): string {
  const own = (threads?.all ?? []).filter(({ idle, state }) => !idle || state === 'D');
  const others = (nodeThreads?.blocked ?? []).filter(({ tid }) => !own.some(thread => thread.tid === tid));
  const groups = [...Map.groupBy([...own, ...others], stackOf).values()];
  if (groups.length === 0) return '';
  const blocks = groups.map(all =>
    block([...all.slice(0, 10).map(threadWords), ...more(all.length - 10), ...frames(all[0])]),
  );
  return `### Threads that wait, by the kernel\n\n${blocks.join('\n\n')}`;
}

const stackOf = (thread: Thread) => `${thread.call?.name}\n${frames(thread).join('\n')}`;
const frames = (thread: Thread | undefined) => thread?.stack?.map(frame => frame.text) ?? ['(no stack)'];
const more = (rest: number) => (rest > 0 ? [`and ${rest} more`] : []);

function threadWords({ comm, tid, role, state, wchan, call, blockedForMs, seen, looks }: Thread): string {
  const age = blockedForMs === null ? '' : `, has not run for ${formatDuration(blockedForMs)}`;
  return `${comm} ${tid} (${role}) ${state} ${wchan ?? '-'} ${call?.name ?? '-'}${age}, the same in ${seen} of ${looks} looks`;
}

function runcChildren({ threads, processes }: Facts): string {
  const pids = new Set((threads?.all ?? []).filter(({ role }) => role.startsWith('runc')).map(({ pid }) => pid));
  const rows = [...pids].flatMap(pid => processes?.byPid.get(pid) ?? []);
  const words = rows.map(({ pid, stat, ageMs, args }) => {
    return `${pid} ${stat} ${ageMs === null ? 'age unknown' : `alive for ${formatDuration(ageMs)}`} ${args}`;
  });
  return `### runc's processes\n\n${words.length === 0 ? 'None is alive below the shim.' : block(words)}`;
}

function views({ views: tables }: Report): string {
  if (tables.length === 0) return '';
  const lines = tables.flatMap(table => [
    `${containerLabel(table)} ${table.id}`,
    ...sourcesOf([table]).map(source => `  ${source}: ${viewWords(table, source)}`),
  ]);
  return `### What each source believed\n\n${block(lines)}`;
}

function disks({ devices, dirty, pressure }: Facts): string {
  const rows = (devices?.all ?? [])
    .filter(({ rates, roles }) => rates !== null && (roles.length > 0 || rates.utilPercent > 5))
    .map(({ name, roles, rates, samples }) => {
      const flying = samples.map(({ inFlight }) => inFlight).join('/');
      const numbers = `${rates?.readsPerSecond.toFixed(1)} r/s, ${rates?.writesPerSecond.toFixed(1)} w/s, ${((rates?.writtenBytesPerSecond ?? 0) / 1024).toFixed(0)} kB/s written`;
      const wait = rates?.awaitMs == null ? '-' : `${rates.awaitMs.toFixed(1)} ms`;
      return `${name} (${roles.join(', ') || 'no role'}): ${numbers}, await ${wait}, in flight ${flying}, util ${rates?.utilPercent.toFixed(0)} %`;
    });
  const io = pressure?.node.io;
  const share = (part: number | null) => (part === null ? '-' : `${(part * 100).toFixed(0)} %`);
  const more = [
    ...(dirty === null ? [] : [`dirty and in writeback: ${(dirty.bytes / 2 ** 20).toFixed(1)} MiB`]),
    ...(io == null ? [] : [`PSI io: some ${share(io.some)}, full ${share(io.full)}`]),
  ];
  return rows.length + more.length === 0 ? '' : `### Disks\n\n${block([...rows, ...more])}`;
}

/** Goroutines of one stack once, requests and locks first; what every idle shim has comes last and is cut first. */
function goroutines({ shimPid, all, groups, complete, verdict }: ShimGoroutines): string {
  const isRequest = ({ example }: ShimGoroutines['groups'][number]) => Number(example.rpc !== null);
  const sorted = groups.toSorted((a, b) => isRequest(b) - isRequest(a) || b.count - a.count);
  const lines = sorted.flatMap(({ example, count, oldestMinutes }) => [
    `${count} × [${example.state}${oldestMinutes === null ? '' : `, up to ${oldestMinutes} minutes`}]${example.rpc === null ? '' : ` in ${example.rpc}`}`,
    ...example.frames.flatMap(({ function: name, args, file, line }) => [
      `  ${name}(${args})`,
      `      ${file}:${line}`,
    ]),
    '',
  ]);
  const title = `### Goroutines of shim ${shimPid}: ${all.length} in ${groups.length} groups, ${complete ? 'complete' : text(verdict)}`;
  return `${title}\n\n<details>\n\n${block(lines)}\n\n</details>`;
}

function logs({ logs: facts }: Facts): string {
  const lines = (facts?.events ?? [])
    .filter(({ source, container, kind }) => source === 'containerd' && (container !== null || kind !== 'other'))
    .slice(-MAX_LOG_LINES)
    .map(({ time, level, message, error }) => {
      return `${time === null ? '?' : clock(nearestIsoTime(time))} ${level ?? ''} ${message}${error === null ? '' : ` error=${error}`}`;
    });
  return lines.length === 0 ? '' : `### containerd's log about these ids\n\n${block(lines)}`;
}

function lacking({ missing }: Report): string {
  if (missing.length === 0) return '';
  return `### Not captured\n\n${missing
    .slice(0, 30)
    .map(({ what, outcome }) => `- ${code(what)}: ${text(outcome)}`)
    .join('\n')}`;
}
