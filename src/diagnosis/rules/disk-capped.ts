import { formatDuration, formatSize } from '../../formats/duration.ts';
import { waitLinks, whoIs } from '../blocked.ts';
import { devicesThatMatter, diskParts, lowest, waitingFor } from '../disk-waits.ts';
import type { Device, DeviceRates, Facts } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { topWriter, writerLink } from '../top-writer.ts';
import { openRequest } from '../under-way.ts';

const BUSY_PERCENT = 95;
/** Share of the time in which somebody waited for a disk. */
const PRESSURE = 0.5;
const SLOW_MS = 20;

/** A disk that does all it is allowed to: always busy, completing at a rate that does not vary, and each request waits long. */
export const diskCapped = defineRule({
  id: 'disk-capped',
  title: 'The disk is at its limit',
  kind: 'stall',
  needs: ['devices'],
  needsOneOf: ['threads', 'nodeThreads'],
  lacks: ({ devices }) => (devices.samples < 2 ? ['two samples of the disk counters at least'] : []),
  *judge(facts) {
    for (const device of lowest(devicesThatMatter(facts).filter(isBusy))) yield* findingOf(device, facts);
  },
});

function isBusy({ rates, alwaysInFlight }: Device): boolean {
  return rates !== null && alwaysInFlight && rates.utilPercent >= BUSY_PERCENT && rates.completed > 0;
}

function* findingOf(device: Device, facts: Facts): Iterable<Finding> {
  const waiting = waitingFor(device, facts);
  const [first] = waiting;
  const { rates } = device;
  if (first === undefined || rates === null) return;
  const io = facts.pressure?.node.io ?? null;
  const isPressed = Math.max(io?.some ?? 0, io?.full ?? 0) >= PRESSURE;
  const whole =
    isPressed && isFlat(device.intervals) && (rates.awaitMs ?? 0) >= SLOW_MS && first.stood.proof === 'looks';
  const writer = topWriter(facts);
  const request = first.whose === 'runtime' ? openRequest(facts.logs?.events ?? []) : null;
  const rate = rateWords(rates);
  yield {
    verdict: verdictAt(first.stood.ageMs, whole ? 'proved' : 'likely'),
    says:
      `${device.name} is at its limit: busy all the time at ${rate}, and ${whoIs(first, facts)} has waited for it for ` +
      `${formatDuration(first.stood.ageMs)}${writer === null ? '' : `; most of what is written is ${writer.name}'s`}.`,
    because: [
      ...device.samples.slice(0, 1).map(({ cite }) => cite),
      ...device.samples.slice(-1).map(({ cite }) => cite),
      ...(io === null ? [] : [io.cite]),
      ...first.thread.cites.slice(-1),
      ...(writer === null ? [] : [writer.cite]),
      // What the runtime is at when it waits: nobody sees in a thread which request it serves.
      ...(request === null ? [] : [request.cite]),
    ],
    next: [
      `Compare ${rate} with what this disk, and this kind of machine, is allowed (IOPS and bandwidth of the volume, burst credits).`,
      writer === null
        ? "Find who writes: `iotop`, or memory.stat and io.stat of the pods; on cgroup v1 buffered writes are nobody's."
        : `Give the data of ${writer.name} a volume of its own, or let it write less.`,
      `Let an alert say it next time: util ${Math.round(rates.utilPercent)} %, await over ${formatDuration(SLOW_MS)}, PSI io.`,
    ],
    ageMs: first.stood.ageMs,
    ageFrom: first.stood.ageFrom,
    links: [
      {
        says: `${device.name} at ${Math.round(rates.utilPercent)} % for the whole sample, ${rate}`,
        about: diskParts(device, facts),
        waitsFor: writer === null ? [] : [writer.part],
      },
      ...(writer === null ? [] : [writerLink(writer)]),
      ...waitLinks(waiting, `device:${device.name}`),
    ],
  };
}

/** A limit gives the same rate in each interval, up to the one or two requests that fall to one side of a sample. */
function isFlat(intervals: readonly DeviceRates[]): boolean {
  if (intervals.length < 2) return false;
  const counts = intervals.map(({ completed, seconds }) => ({ completed, perSecond: completed / seconds }));
  const bytes = intervals.map(rates => rates.readBytesPerSecond + rates.writtenBytesPerSecond);
  const [least, most] = [
    Math.min(...counts.map(count => count.completed)),
    Math.max(...counts.map(count => count.completed)),
  ];
  return most - least <= 2 || isWithin(counts.map(count => count.perSecond)) || isWithin(bytes);
}

const isWithin = (values: readonly number[]) => Math.max(...values) <= 1.3 * Math.min(...values);

/** `2.0 MiB/s, 412 requests/s, 15.8 s each` */
function rateWords(rates: DeviceRates): string {
  const bytes = formatSize(rates.readBytesPerSecond + rates.writtenBytesPerSecond);
  const perSecond = rates.readsPerSecond + rates.writesPerSecond;
  const each = rates.awaitMs === null ? '' : `, ${formatDuration(rates.awaitMs)} each`;
  return `${bytes}/s, ${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)} requests/s${each}`;
}
