import { podUidOfCgroup } from '../../formats/runtime/pod-uid.ts';
import type { Citation } from '../citation.ts';
import { cite } from '../citation.ts';
import type { CgroupFacts, ContainerCgroup, Freezer } from '../facts.ts';
import { citeFirst, type Entries } from './entries.ts';
import { parseKeyed, placeOfCgroupFile, type Samples } from './samples.ts';
import { parseSections, type Section } from './sections.ts';

const NODE_CGROUPS = 'node/cgroups.txt';
const COUNTS = 'node/cgroups';

/** Files of one cgroup, hierarchies of v1 joined, by name. */
interface CgroupFiles {
  readonly entry: string;
  readonly path: string;
  readonly files: ReadonlyMap<string, Section>;
}

/** Cgroups of an entry, in its order: containers/<id>/cgroup.txt has one, or several where v1's hierarchies differ. */
function cgroupsIn(entry: string, text: string): readonly CgroupFiles[] {
  const byPath = new Map<string, Map<string, Section>>();
  for (const section of parseSections(text)) {
    const place = placeOfCgroupFile(section.path);
    if (place === null) continue;
    const files = byPath.get(place.cgroup) ?? new Map<string, Section>();
    byPath.set(place.cgroup, files);
    if (!files.has(place.name) || section.text.includes('throttled')) files.set(place.name, section);
  }
  return [...byPath].map(([path, files]) => ({ entry, path, files }));
}

/** The cgroup of a container. Of several the deepest: the others are parents that v1 has in one hierarchy alone. */
export function containerCgroup(entry: string, text: string, samples: Samples | null): ContainerCgroup | null {
  const own = cgroupsIn(entry, text).toSorted((a, b) => b.path.length - a.path.length)[0];
  return own === undefined ? null : factOf(own, samples);
}

function factOf(own: CgroupFiles, samples: Samples | null): ContainerCgroup {
  const series = samples?.cgroups.get(own.path);
  const grown = (key: 'highEvents' | 'throttledPeriods' | 'throttledMs') => {
    const [before, after] = [series?.first[key], series?.last[key]];
    return before == null || after == null || series?.first === series?.last ? null : Math.max(0, after - before);
  };
  const spanMs = series === undefined ? 0 : series.last.offsetMs - series.first.offsetMs;
  const throttledMs = grown('throttledMs');
  const cpu = citeFile(own, 'cpu.stat', /^(?:nr_)?throttled/);
  const throttledShare = throttledMs === null || spanMs <= 0 ? null : throttledMs / spanMs;
  return {
    path: own.path,
    // A hybrid node has cgroup.events and pressure files in the unified hierarchy, and the controllers in v1's.
    version: own.files.has('freezer.state') || own.files.has('memory.usage_in_bytes') ? 1 : 2,
    freezer: freezerOf(own),
    pids: pidsOf(own),
    memory: memoryOf(own, grown('highEvents')),
    cpu: cpu === null ? null : { throttledShare, throttledPeriodsGrowth: grown('throttledPeriods'), cite: cpu },
    ioLimits: ioLimitsOf(own),
  };
}

function freezerOf(own: CgroupFiles): Freezer | null {
  const v1 = own.files.get('freezer.state');
  if (v1 !== undefined) {
    const state = /^(THAWED|FREEZING|FROZEN)$/.exec(v1.text)?.[1] as Freezer['state'] | undefined;
    const self = own.files.get('freezer.self_freezing')?.text;
    const at = citeFile(own, 'freezer.state', /./);
    return state === undefined || at === null
      ? null
      : { state, self: self === undefined ? null : self === '1', cite: at };
  }
  const events = own.files.get('cgroup.events');
  const at = citeFile(own, 'cgroup.events', /^frozen/);
  if (events === undefined || at === null) return null;
  const frozen = parseKeyed(events.text).get('frozen');
  const asked = own.files.get('cgroup.freeze')?.text;
  if (frozen === undefined) return null;
  const state = frozen === 1 ? 'FROZEN' : asked === '1' ? 'FREEZING' : 'THAWED';
  return { state, self: asked === undefined ? null : asked === '1', cite: at };
}

/** `max` is no limit. */
function limitOf(text: string | undefined): number | null {
  const value = text?.trim() ?? '';
  // v1 says the largest number that fits a page for none.
  return /^\d+$/.test(value) && Number(value) < 2 ** 60 ? Number(value) : null;
}

function pidsOf(own: CgroupFiles): ContainerCgroup['pids'] {
  const at = citeFile(own, 'pids.current', /./);
  const current = limitOf(own.files.get('pids.current')?.text);
  if (at === null || current === null) return null;
  const events = own.files.get('pids.events');
  const maxEvents = events === undefined ? null : (parseKeyed(events.text).get('max') ?? null);
  return { current, max: limitOf(own.files.get('pids.max')?.text), maxEvents, cite: at };
}

function memoryOf(own: CgroupFiles, highEventsGrowth: number | null): ContainerCgroup['memory'] {
  const name = own.files.has('memory.current') ? 'memory.current' : 'memory.usage_in_bytes';
  const at = citeFile(own, name, /./);
  const currentBytes = limitOf(own.files.get(name)?.text);
  if (at === null || currentBytes === null) return null;
  const events = parseKeyed(own.files.get('memory.events')?.text ?? own.files.get('memory.oom_control')?.text ?? '');
  const max = own.files.get('memory.max') ?? own.files.get('memory.limit_in_bytes');
  return {
    currentBytes,
    maxBytes: limitOf(max?.text),
    highBytes: limitOf(own.files.get('memory.high')?.text),
    highEventsGrowth,
    oomKills: events.get('oom_kill') ?? null,
    cite: at,
  };
}

function ioLimitsOf(own: CgroupFiles): readonly Citation[] {
  return [...own.files].flatMap(([name, section]) =>
    /^(?:io\.max|blkio\.throttle\.\w+_device)$/.test(name) && section.text !== ''
      ? [cite(own.entry, section.line, `${name}: ${section.text}`)]
      : [],
  );
}

function citeFile(own: CgroupFiles, name: string, form: RegExp): Citation | null {
  const section = own.files.get(name);
  if (section === undefined) return null;
  const lines = section.text.split('\n');
  const index = Math.max(
    0,
    lines.findIndex(line => form.test(line)),
  );
  return cite(own.entry, section.line + index, `${section.path}: ${lines[index] ?? ''}`);
}

/** Cgroups of the node that are frozen or have met their limit of processes, and how many there are. */
export function cgroupsFrom(entries: Entries, podUid: string | null): CgroupFacts | null {
  const text = entries.text(NODE_CGROUPS);
  const counts = entries.text(COUNTS);
  if (text === null && counts === null) return null;
  const isOwn = (path: string) => podUid !== null && podUidOfCgroup(path) === podUid;
  const notable = cgroupsIn(NODE_CGROUPS, text ?? '').flatMap(cgroup => {
    const [freezer, pids] = [freezerOf(cgroup), pidsOf(cgroup)];
    const frozen = freezer !== null && freezer.state !== 'THAWED';
    const full = pids !== null && ((pids.maxEvents ?? 0) > 0 || (pids.max !== null && pids.current >= pids.max));
    return frozen || full || isOwn(cgroup.path) ? [{ path: cgroup.path, freezer, pids }] : [];
  });
  return { notable, counts: countsIn(counts) };
}

/** `memory 4 131 1`: controller, hierarchy, number, switched on. */
function countsIn(text: string | null): CgroupFacts['counts'] {
  const counts = new Map<string, { count: number; cite: Citation }>();
  for (const [, name = '', count] of (text ?? '').matchAll(/^(\w+)\s+\d+\s+(\d+)\s+[01]$/gm)) {
    counts.set(name, { count: Number(count), cite: citeFirst(COUNTS, text ?? '', new RegExp(`^${name}\\s`)) });
  }
  return counts;
}
