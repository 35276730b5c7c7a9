import { formatDuration, formatSize } from '../../formats/duration.ts';
import { defineRule, MIN_STALL_MS } from '../rule.ts';
import { dirtyWords, topWriter, writerLink } from '../top-writer.ts';

/** Written to the disk within a moment: no syncing unmount would be long. */
const MUCH_BYTES = 64 * 1024 * 1024;
const BUSY_PERCENT = 50;

/** What waits to be written, whose it is, and how long the disk needs for it: so long will an unmount or an fsync of now take. */
export const kernelWriteback = defineRule({
  id: 'kernel-writeback',
  title: 'Much is waiting to be written to the disk',
  kind: 'context',
  needs: ['dirty'],
  *judge(facts) {
    const { of, bytes, device, drainMs, writtenBytesPerSecond, samples } = facts.dirty;
    const disk = facts.devices?.all.find(({ name }) => name === device);
    const isStanding = disk?.alwaysInFlight === true && disk.rates?.completed === 0;
    // What an idle disk happened to write in the sample says nothing about how fast it can.
    const isBusy = (disk?.rates?.utilPercent ?? 0) >= BUSY_PERCENT;
    const takesLong = isStanding || (isBusy && (drainMs ?? 0) >= MIN_STALL_MS);
    if (bytes < MUCH_BYTES || !takesLong) return;
    const whose = dirtyWords(facts, 3);
    const writer = topWriter(facts);
    const on = device === null ? '' : of === 'device' ? ` (${device})` : `, all or part of it to ${device}`;
    const rate = writtenBytesPerSecond === null ? null : `${formatSize(writtenBytesPerSecond)}/s`;
    const about = of === 'node' ? 'at most' : 'about';
    const drain =
      drainMs === null ? ', and none of it is written' : `; at ${rate} that takes ${about} ${formatDuration(drainMs)}`;
    const last = samples.at(-1) ?? samples[0];
    yield {
      // Of the whole node some may belong to another device; and who waits for them is not known.
      verdict: 'likely',
      says:
        `${formatSize(bytes)} wait to be written to disk${on}${drain}: an unmount or a sync that begins now waits for them` +
        `${whose.length === 0 ? '' : `. Most of them: ${whose.map(({ words }) => words).join(', ')}`}.`,
      because: [last.cite, ...whose.map(({ cite }) => cite), ...(writer === null ? [] : [writer.cite])],
      next: [
        "Take it for the time that an overlay's unmount will need: delete the pods that write least first.",
        'Lower vm.dirty_bytes and vm.dirty_background_bytes on nodes with slow disks, so that less can pile up.',
      ],
      ageMs: null,
      ageFrom: null,
      links: [
        ...(device === null
          ? []
          : [
              {
                says: `${formatSize(bytes)} dirty${drainMs === null ? '' : `, ${about} ${formatDuration(drainMs)} to drain`}`,
                about: [`device:${device}` as const],
                waitsFor: writer === null ? [] : [writer.part],
              },
            ]),
        ...(writer === null ? [] : [writerLink(writer)]),
      ],
    };
  },
});
