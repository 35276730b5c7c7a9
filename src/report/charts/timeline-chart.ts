import { scaleUtc } from 'd3-scale';
import { formatDuration } from '../../formats/duration.ts';
import type { Anchors } from '../html/anchors.ts';
import { html, type Markup } from '../html/markup.ts';
import type { TimelineEvent, TimelineSpan } from '../timeline/event.ts';
import { LAYERS } from '../timeline/event.ts';
import type { Timeline } from '../timeline/timeline.ts';
import { clock, repeatWords } from '../words.ts';
import { type Window, windowOf } from './window.ts';

interface Lane {
  readonly title: string;
  readonly words: string;
  readonly spans: readonly TimelineSpan[];
  readonly events: readonly TimelineEvent[];
}

const TOP = 26;
const LANE = 40;
const BAR = 14;
const MAX_LANES = 14;

/**
 * The layers below each other on one clock. Places are per cent of the width, so that letters keep their size on a narrow
 * screen; lanes have their names above them for the same reason.
 */
export function timelineChart(timeline: Timeline, anchors: Anchors): Markup {
  const window = windowOf(timeline);
  const lanes = lanesOf(drawn(timeline, window)).slice(0, MAX_LANES);
  const height = TOP + lanes.length * LANE + 24;
  const scale = scaleUtc().domain([window.from, window.to]).range([0, 100]);
  const x = (ms: number) => Math.min(Math.max(scale(ms), 0), 100);
  const ticks = scale.ticks(5).filter(tick => scale(tick) > 4 && scale(tick) < 96);
  const short = window.to - window.from < 10_000;
  return html`<svg class="chart timeline" width="100%" height="${height}" role="img" aria-label="Timeline of all layers">
${ticks.map(
  (
    tick,
    index,
  ) => html`<line class="grid" x1="${pc(scale(tick))}" x2="${pc(scale(tick))}" y1="${TOP - 6}" y2="${height - 20}"/>
<text class="tick${index % 2 === 1 ? ' odd' : ''}" x="${pc(scale(tick))}" y="${height - 6}" text-anchor="middle">${tick.toISOString().slice(11, short ? 21 : 19)}</text>`,
)}
${gapBand(timeline, x, height)}
${lanes.map((lane, index) => laneMarkup(lane, TOP + index * LANE, { x, window, anchors }))}
</svg>${window.earlier > 0 && html`<p class="note">${window.earlier} earlier ${window.earlier === 1 ? 'event is' : 'events are'} not drawn; the list below has them.</p>`}`;
}

/** Without what is older than the picture. */
function drawn({ events, spans }: Timeline, { from, to }: Window): Pick<Timeline, 'events' | 'spans'> {
  const within = (at: string) => Date.parse(at) >= from && Date.parse(at) <= to;
  return {
    events: events.filter(({ at }) => within(at)),
    spans: spans.filter(span => Date.parse(span.to) >= from),
  };
}

const pc = (value: number) => `${value.toFixed(2)}%`;

function gapBand({ gap }: Timeline, x: (ms: number) => number, height: number): Markup | null {
  if (gap === null) return null;
  const [from, to] = [x(Date.parse(gap.from)), x(Date.parse(gap.to))];
  const middle = Math.min(Math.max((from + to) / 2, 20), 80);
  return html`<rect class="gap" x="${pc(from)}" width="${pc(to - from)}" y="${TOP - 8}" height="${height - TOP - 12}"/>
<text class="gap-words" x="${pc(middle)}" y="13" text-anchor="middle">${formatDuration(gap.ms)}: ${gap.what}</text>`;
}

interface Drawing {
  readonly x: (ms: number) => number;
  readonly window: Window;
  readonly anchors: Anchors;
}

function laneMarkup({ title, words, spans, events }: Lane, top: number, { x, window, anchors }: Drawing): Markup {
  const middle = top + 18 + BAR / 2;
  const bars = spans.map(span => {
    const [from, to] = [Date.parse(span.from), Date.parse(span.to)];
    const width = Math.max(x(to) - x(from), 0.4);
    const tip = `${span.what}: ${clock(span.from)} to ${clock(span.to)}, ${formatDuration(to - from)}`;
    const bar = html`<rect class="span ${span.kind}" x="${pc(Math.min(x(from), 99.6))}" width="${pc(width)}" y="${top + 18}" height="${BAR}"><title>${tip}</title></rect>`;
    return span.cite === null ? bar : html`<a href="${anchors.href(span.cite)}">${bar}</a>`;
  });
  const marks = events.map(event => {
    const tip = `${clock(event.at)} ${event.what}${repeatWords(event)}`;
    const until = event.until === null ? null : Math.min(Date.parse(event.until), window.to);
    const at = x(Date.parse(event.at));
    const mark = html`${until !== null && html`<line class="repeat ${event.severity}" x1="${pc(at)}" x2="${pc(x(until))}" y1="${middle}" y2="${middle}"/><circle class="mark ${event.severity}" cx="${pc(x(until))}" cy="${middle}" r="4"/>`}<circle class="mark ${event.severity}" cx="${pc(at)}" cy="${middle}" r="4.5"><title>${tip}</title></circle>`;
    return event.cite === null ? mark : html`<a href="${anchors.href(event.cite)}">${mark}</a>`;
  });
  return html`<line class="lane" x1="0" x2="100%" y1="${middle}" y2="${middle}"/>
<text class="lane-title" x="0" y="${top + 12}"><tspan class="strong">${title}</tspan>${words === '' ? '' : ` ${words}`}</text>${bars}${marks}`;
}

function lanesOf({ events, spans }: Pick<Timeline, 'events' | 'spans'>): readonly Lane[] {
  return LAYERS.flatMap(layer => {
    const own = {
      events: events.filter(event => event.layer === layer),
      spans: spans.filter(span => span.layer === layer),
    };
    if (own.events.length + own.spans.length === 0) return [];
    const names = layer === 'container' || layer === 'thread' ? namesIn([...own.spans, ...own.events]) : [undefined];
    return names.map((name): Lane => {
      const mine = <T extends { readonly of: string | null }>(all: readonly T[]) =>
        name === undefined ? all : all.filter(({ of }) => of === name);
      const lane = { spans: mine(own.spans), events: mine(own.events) };
      return { title: name === undefined ? layer : (name ?? layer), words: laneWords(lane), ...lane };
    });
  });
}

function namesIn(all: readonly { readonly of: string | null }[]): readonly (string | null)[] {
  return [...new Set(all.map(({ of }) => of))];
}

/** What a bar is, in words: bars have no room for them on a narrow screen. */
function laneWords({ spans, events }: Pick<Lane, 'spans' | 'events'>): string {
  if (spans.length > 0) {
    const isLong = ({ from, to }: TimelineSpan) => Date.parse(to) - Date.parse(from) >= 1000;
    const told = spans.length === 1 ? spans : spans.filter(isLong);
    return told.map(({ what, from, to }) => `${what} ${formatDuration(Date.parse(to) - Date.parse(from))}`).join(', ');
  }
  const lines = events.reduce((sum, { count }) => sum + count, 0);
  return lines === 1 ? (events[0]?.what ?? '').slice(0, 40) : `${lines} events`;
}
