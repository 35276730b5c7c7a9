import { formatDuration } from '../../formats/duration.ts';
import { type Blocked, citeThreads, waitersHave, whoIs } from '../blocked.ts';
import { devicesThatMatter, diskParts, lowest, waitingFor, workersOf } from '../disk-waits.ts';
import type { Device, Facts, KernelEvent } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';

/** A message of the kernel older than this may be about something that has recovered. */
const RECENT_MS = 10 * 60_000;

/** Requests are in flight and none comes back: the device, its controller or its network is gone. */
export const diskDead = defineRule({
  id: 'disk-dead',
  title: 'The disk does not answer any more',
  kind: 'stall',
  needs: ['devices'],
  needsOneOf: ['threads', 'nodeThreads'],
  lacks: ({ devices, kernel }) =>
    devices.samples < 2 && kernel === null ? ["two samples of the disk counters, or the kernel's log"] : [],
  *judge(facts) {
    const own = devicesThatMatter(facts);
    for (const device of lowest(own.filter(isSilent))) {
      const waiting = waitingFor(device, facts, 'always');
      const [first] = waiting;
      if (first !== undefined) yield silent(device, first, waiting, facts);
    }
    for (const device of lowest(own.filter(candidate => !isSilent(candidate)))) {
      const [first] = waitingFor(device, facts, 'always');
      const messages = messagesAbout(device, facts).filter(({ kind }) => kind === 'controller-timeout');
      if (first !== undefined && messages.length > 0) yield timingOut(device, first, messages, facts);
    }
  },
});

function isSilent({ rates, alwaysInFlight, samples }: Device): boolean {
  const counts = samples.map(({ inFlight }) => inFlight);
  // What is in flight can only have grown where nothing was completed.
  const grows = counts.every((count, index) => index === 0 || count >= (counts[index - 1] ?? 0));
  return rates !== null && alwaysInFlight && rates.completed === 0 && grows;
}

function silent(device: Device, first: Blocked, waiting: readonly Blocked[], facts: Facts): Finding {
  const { name, rates, samples } = device;
  const messages = messagesAbout(device, facts);
  const workers = workersOf(device, facts);
  const inFlight = samples.at(-1)?.inFlight ?? 0;
  const whole = messages.length > 0 || first.stood.proof === 'looks';
  const requests = inFlight === 1 ? 'one request is' : `${inFlight} requests are`;
  return {
    verdict: verdictAt(first.stood.ageMs, whole ? 'proved' : 'likely'),
    says:
      `${name} does not answer: ${requests} in flight and none was completed in ${formatDuration((rates?.seconds ?? 0) * 1000)}; ` +
      `${waitersHave(waiting, facts)} waited for it for ${formatDuration(first.stood.ageMs)}.`,
    because: [
      ...samples.slice(0, 1).map(({ cite }) => cite),
      ...samples.slice(-1).map(({ cite }) => cite),
      ...citeThreads([first]),
      ...citeThreads(workers, 2),
      ...messages.slice(-3).map(({ cite }) => cite),
    ],
    next: [
      messages.length > 0
        ? 'Read the messages of its controller in logs/kernel.log from the first one on.'
        : `Look for messages of the controller (nvme, virtio, scsi, iscsi) in the kernel's log of the whole uptime, and at the volume in the console of the cloud.`,
      'To tell it from a disk that is merely very slow: `stallcap grab --node --samples 10`, and look whether anything is completed.',
      'Move the pods away; threads in D end only when the requests do, so the node will need a reboot if the disk does not come back.',
    ],
    ageMs: first.stood.ageMs,
    ageFrom: first.stood.ageFrom,
    links: [
      {
        says: `${name} completes nothing, ${inFlight} in flight`,
        about: diskParts(device, facts),
        waitsFor: [],
      },
    ],
  };
}

function messagesAbout({ name, below }: Device, { kernel, capture }: Facts): readonly KernelEvent[] {
  const own = new Set([name, ...below]);
  return (kernel?.events ?? []).filter(({ kind, device, time }) => {
    const isRecent = time === null || capture.startedAt - time <= RECENT_MS;
    return (kind === 'controller-timeout' || kind === 'io-error') && isRecent && device !== null && isOf(own, device);
  });
}

/** Messages name the controller (`nvme0`), the disk (`nvme0n1`) or a partition (`nvme0n1p1`, `sda1`). */
function isOf(own: ReadonlySet<string>, device: string): boolean {
  return [...own].some(name => name === device || isPart(device, name) || isPart(name, device));
}

function isPart(whole: string, part: string): boolean {
  const rest = part.startsWith(whole) ? part.slice(whole.length) : '';
  return /\d$/.test(whole) ? /^(?:n\d+(?:p\d+)?|p\d+)$/.test(rest) : /^\d+$/.test(rest);
}

/** It completes something, and its controller has had to be reset or asked twice all the same. */
function timingOut(device: Device, first: Blocked, messages: readonly KernelEvent[], facts: Facts): Finding {
  const { name } = device;
  return {
    verdict: verdictAt(first.stood.ageMs, 'likely'),
    says:
      `The controller of ${name} does not answer in time (${messages.length} messages of the kernel), and ` +
      `${whoIs(first, facts)} has waited for the disk for ${formatDuration(first.stood.ageMs)}.`,
    because: [...messages.slice(-3).map(({ cite }) => cite), ...first.thread.cites.slice(-1)],
    next: NEXT_MESSAGES,
    ageMs: first.stood.ageMs,
    ageFrom: first.stood.ageFrom,
    links: [{ says: `timeouts of the controller of ${name}`, about: diskParts(device, facts), waitsFor: [] }],
  };
}

const NEXT_MESSAGES = [
  'Read the messages of its controller in logs/kernel.log from the first one on.',
  'Look at the volume, or the disk, in the console of the cloud or of the storage; move the pods away.',
];
