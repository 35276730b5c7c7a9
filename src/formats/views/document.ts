import type { ShimCall } from '../../host/port.ts';
import type { ContainerViews, View } from './view.ts';

/** runtime/views.json, schemas/views.schema.json: what every source said, and when. Who is right is not in it; see judge.ts. */
export interface ViewsDocument {
  readonly format: 1;
  readonly shims: readonly ShimView[];
  readonly containers: readonly ContainerViews[];
}

/** Whether a shim answers at all: Connect takes no lock of a container. */
export interface ShimView extends Pick<ShimCall, 'service' | 'outcome' | 'detail'> {
  readonly pid: number;
  readonly at: string;
  readonly latencyMs: number;
  /** Who answered at the socket: another pid than the shim's own is a shim that was replaced. Null without an answer. */
  readonly answeredBy: number | null;
}

export const VIEWS_PATH = 'runtime/views.json';

/** JSON with a line for each shim and each view, so that it can be read, compared and cited by line. */
export function writeViews({ shims, containers }: ViewsDocument): string {
  const list = (lines: readonly string[]) => (lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`);
  const ofContainer = ({ views, ...container }: ContainerViews) =>
    `${JSON.stringify(container).slice(0, -1)},"views":${list(views.map(view => JSON.stringify(view)))}}`;
  const parts = [
    '"format":1',
    `"shims":${list(shims.map(shim => JSON.stringify(shim)))}`,
    `"containers":${list(containers.map(ofContainer))}`,
  ];
  return `{${parts.join(',\n')}}\n`;
}

/** Null for a text that is none: cut, of another format, or by somebody else. */
export function parseViews(text: string): ViewsDocument | null {
  try {
    const document: unknown = JSON.parse(text);
    return isDocument(document) ? document : null;
  } catch {
    return null;
  }
}

function isDocument(value: unknown): value is ViewsDocument {
  const { format, shims, containers } = (value ?? {}) as Partial<ViewsDocument>;
  return format === 1 && Array.isArray(shims) && Array.isArray(containers) && containers.every(hasViews);
}

function hasViews(value: unknown): boolean {
  const { id, views } = (value ?? {}) as Partial<ContainerViews>;
  return typeof id === 'string' && Array.isArray(views) && views.every(isView);
}

function isView(value: unknown): boolean {
  const { source, says, word, at } = (value ?? {}) as Partial<View>;
  return [source, says, word, at].every(text => typeof text === 'string') && !Number.isNaN(Date.parse(at ?? ''));
}
