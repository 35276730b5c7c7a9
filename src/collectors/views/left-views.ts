import type { ShimView } from '../../formats/views/document.ts';
import type { View } from '../../formats/views/view.ts';
import type { Capture } from '../collector.ts';

const VIEWS = 'views of containers';
const SHIMS = 'views of shims';

/** Leaves to the collector `views` what a source said of a container. */
export function leaveView(capture: Pick<Capture, 'notes'>, containerId: string, ...views: readonly View[]): void {
  const before = leftViews(capture);
  capture.notes.set(VIEWS, new Map([...before, [containerId, [...(before.get(containerId) ?? []), ...views]]]));
}

/** By id of the container, in the order in which they were left. */
export function leftViews({ notes }: Pick<Capture, 'notes'>): ReadonlyMap<string, readonly View[]> {
  return (notes.get(VIEWS) as ReadonlyMap<string, readonly View[]> | undefined) ?? new Map();
}

/** A shim's answer to Connect, for runtime/views.json. */
export function leaveShim(capture: Pick<Capture, 'notes'>, shim: ShimView): void {
  capture.notes.set(SHIMS, [...leftShims(capture), shim]);
}

/** Those that were left so far. */
export function leftShims({ notes }: Pick<Capture, 'notes'>): readonly ShimView[] {
  return (notes.get(SHIMS) as readonly ShimView[] | undefined) ?? [];
}
