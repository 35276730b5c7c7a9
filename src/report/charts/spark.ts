import { scaleLinear } from 'd3-scale';
import { area, curveLinear, curveStep, line } from 'd3-shape';
import { html, type Markup } from '../html/markup.ts';

/** Where a value stands in time; x in any unit. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * A small picture of a series that starts at zero; `kind` gives its colour. One value alone is a flat line.
 *
 * @param top of the picture; default: what fits the series
 */
export function spark(points: readonly Point[], kind: string, step = false, top?: number): Markup {
  const xs = points.map(point => point.x);
  const [first = 0, last = 1] = [Math.min(...xs), Math.max(...xs)];
  const most = Math.max(...points.map(point => point.y), Number.MIN_VALUE);
  const x = scaleLinear()
    .domain([first, last === first ? first + 1 : last])
    .range([0, 100]);
  const y = scaleLinear()
    .domain([0, top ?? most * 1.1])
    .range([30, 0]);
  const drawn = points.length === 1 ? [...points, { x: first + 1, y: points[0]?.y ?? 0 }] : points;
  const curve = step ? curveStep : curveLinear;
  const shape = area<Point>()
    .x(at => x(at.x))
    .y0(30)
    .y1(at => y(at.y))
    .curve(curve)(drawn);
  const edge = line<Point>()
    .x(at => x(at.x))
    .y(at => y(at.y))
    .curve(curve)(drawn);
  return html`<svg class="spark ${kind}" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true"><path class="area" d="${shape ?? ''}"/><path class="edge" d="${edge ?? ''}" vector-effect="non-scaling-stroke"/></svg>`;
}

/** A bar from 0 to 1, with a second, darker one inside of it. */
export function meter(outer: number, inner: number | null, kind: string): Markup {
  const width = (share: number) => `${(Math.min(Math.max(share, 0), 1) * 100).toFixed(1)}%`;
  return html`<svg class="meter ${kind}" width="100%" height="14" aria-hidden="true"><rect class="rail" width="100%" height="14" rx="2"/><rect class="outer" width="${width(outer)}" height="14" rx="2"/>${inner !== null && html`<rect class="inner" width="${width(inner)}" height="14" rx="2"/>`}</svg>`;
}
