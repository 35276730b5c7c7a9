import type { Belief, ContainerFacts, View } from '../diagnosis/facts.ts';

/** What every source believes of one container. */
export interface ContainerViewsTable {
  readonly id: string;
  readonly name: string | null;
  readonly kind: ContainerFacts['kind'];
  /** Two sources say opposite things: that it runs, and that it has ended. Whether one is only late, a rule judges. */
  readonly disagree: boolean;
  readonly views: readonly View[];
}

/** Containers of which any source said something, in the bundle's order. */
export function viewsTables(containers: readonly ContainerFacts[]): readonly ContainerViewsTable[] {
  return containers
    .filter(({ views }) => views.length > 0)
    .map(({ id, name, kind, views }) => ({ id, name, kind, disagree: disagree(views), views }));
}

const ALIVE: ReadonlySet<Belief> = new Set(['running', 'paused']);

function disagree(views: readonly View[]): boolean {
  return views.some(({ says }) => ALIVE.has(says)) && views.some(({ says }) => says === 'exited');
}

/** The column of all tables: sources in the order in which they are met first. */
export function sourcesOf(tables: readonly ContainerViewsTable[]): readonly string[] {
  return [...new Set(tables.flatMap(({ views }) => views.map(({ source }) => source)))];
}

/** The last word of a source. */
export function lastView({ views }: ContainerViewsTable, source: string): View | null {
  return views.findLast(view => view.source === source) ?? null;
}

/** `app`, `sandbox`; without a name the beginning of its id. */
export function containerLabel({ name, kind, id }: Pick<ContainerViewsTable, 'name' | 'kind' | 'id'>): string {
  return name ?? (kind === 'sandbox' ? 'sandbox' : id.slice(0, 12));
}
