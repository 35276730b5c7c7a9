import type { Device, DeviceRates, DirtyFacts, Facts, PressureShare } from '../../diagnosis/facts.ts';
import { formatDuration, formatSize } from '../../formats/duration.ts';
import { meter, spark } from '../charts/spark.ts';
import type { Anchors } from './anchors.ts';
import { html, type Markup } from './markup.ts';

const MAX_DEVICES = 6;
/** Of what nobody waited for there is nothing to see over the samples. */
const SHOWN_PRESSURE = 0.05;

/** What the disks did between the first sample and the last, and how long tasks waited for them. */
export function disksSection({ devices, pressure, dirty }: Facts, anchors: Anchors): Markup | null {
  const shown = (devices?.all ?? []).filter(matters).toSorted(byWeight).slice(0, MAX_DEVICES);
  const shares = (['io', 'memory', 'cpu'] as const).flatMap(kind => {
    const share = pressure?.node[kind] ?? null;
    return share === null ? [] : [{ kind, share }];
  });
  if (shown.length + shares.length === 0) return null;
  const over = devices === null ? '' : ` over ${formatDuration(devices.spanMs)}, ${devices.samples} samples`;
  return html`<section id="disks"><h2>Disks and pressure<small>${over}</small></h2>
<div class="grid2">${shown.map(device => deviceCard(device, anchors))}${dirty !== null && dirtyCard(dirty, anchors)}
${shares.length > 0 && html`<div class="card"><h3>Pressure of the node</h3>${shares.map(row => pressureRow(row, anchors))}<p class="note">Share of the time in which some task waited (light), and in which all did (dark).</p></div>`}</div></section>`;
}

function matters({ roles, rates }: Device): boolean {
  return roles.length > 0 || (rates !== null && rates.completed > 0 && rates.utilPercent > 1);
}

function byWeight(a: Device, b: Device): number {
  return (
    Number(b.roles.length > 0) - Number(a.roles.length > 0) || (b.rates?.utilPercent ?? 0) - (a.rates?.utilPercent ?? 0)
  );
}

function deviceCard({ name, roles, rates, intervals, samples, alwaysInFlight }: Device, anchors: Anchors): Markup {
  const [, ...after] = samples;
  const written = intervals.map((rate, index) => ({
    x: after[index]?.offsetMs ?? index,
    y: rate.writtenBytesPerSecond,
  }));
  const flying = samples.map(({ offsetMs, inFlight }) => ({ x: offsetMs, y: inFlight }));
  const cite = samples.at(-1)?.cite;
  return html`<div class="card"><h3>${name}<small>${roles.join(', ')}</small></h3>
${
  rates !== null &&
  html`<div class="row"><span>busy</span>${meter(rates.utilPercent / 100, null, rates.utilPercent >= 95 ? 'hot' : 'calm')}<b>${rates.utilPercent.toFixed(0)} %</b></div>
${written.length > 0 && html`<div class="row"><span>written</span>${spark(written, 'written', true)}<b>${formatSize(rates.writtenBytesPerSecond)}/s</b></div>`}`
}
<div class="row"><span>in flight</span>${spark(flying, 'flying')}<b>${flying.map(({ y }) => y).join(', ')}</b></div>
${rates !== null && html`<p class="note">${rateWords(rates)}${alwaysInFlight ? '; requests were in flight in every sample' : ''}${cite !== undefined && html` (${anchors.link(cite)})`}</p>`}</div>`;
}

function rateWords({ readsPerSecond, writesPerSecond, readBytesPerSecond, awaitMs, queueLength }: DeviceRates): string {
  const wait = awaitMs === null ? 'nothing was completed' : `a request took ${formatDuration(awaitMs)}`;
  return `${readsPerSecond.toFixed(1)} reads/s (${formatSize(readBytesPerSecond)}/s), ${writesPerSecond.toFixed(1)} writes/s, ${wait}, queue ${queueLength.toFixed(1)}`;
}

function dirtyCard({ of, samples, bytes, device, drainMs }: DirtyFacts, anchors: Anchors): Markup {
  const points = samples.map(({ offsetMs, dirtyBytes, writebackBytes }) => ({
    x: offsetMs,
    y: dirtyBytes + writebackBytes,
  }));
  const drain =
    drainMs === null || device === null
      ? ''
      : `; at its present rate ${device} needs ${of === 'node' ? 'at most ' : ''}${formatDuration(drainMs)} for that`;
  const cite = samples.at(-1)?.cite ?? samples[0].cite;
  return html`<div class="card"><h3>Dirty pages<small>${of === 'node' ? 'node' : device}</small></h3><div class="row"><span>waiting</span>${spark(points, 'written')}<b>${formatSize(bytes)}</b></div>
<p class="note">Written by somebody, and not on a disk yet${drain} (${anchors.link(cite)}).</p></div>`;
}

function pressureRow(
  { kind, share }: { readonly kind: string; readonly share: PressureShare },
  anchors: Anchors,
): Markup {
  const some = share.some ?? (share.avg10Some ?? 0) / 100;
  const full = share.full ?? (share.avg10Full ?? 0) / 100;
  const percent = (part: number) => `${(part * 100).toFixed(0)} %`;
  const row = html`<div class="row"><span>${anchors.link(share.cite, kind)}</span>${meter(some, full, full >= 0.5 ? 'hot' : 'calm')}<b>${percent(some)} / ${percent(full)}</b></div>`;
  const { series } = share;
  if (series.length < 2 || some < SHOWN_PRESSURE) return row;
  const points = series.map(({ untilMs, some: part }) => ({ x: untilMs, y: part }));
  return html`${row}<div class="row"><span>over time</span>${spark(points, 'flying', true, 1)}<b>${series.map(point => (point.some * 100).toFixed(0)).join(', ')}</b></div>`;
}
