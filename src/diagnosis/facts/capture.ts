import { parseCgroups } from '../../formats/proc/cgroup.ts';
import { parseMountinfo } from '../../formats/proc/mountinfo.ts';
import { cite } from '../citation.ts';
import type {
  CaptureFacts,
  LogSource,
  ShimGoroutines,
  SignalFact,
  StuckProbeFact,
  TargetFacts,
  Versions,
} from '../facts.ts';
import type { Entries } from './entries.ts';
import type { ManifestRecord } from './manifest-record.ts';
import type { PlanRecord } from './plan-record.ts';

/** Who is meant, and by which marks logs tell. Known from plan.json alone, so before any log passes by. */
export function targetFrom({ target }: PlanRecord): TargetFacts {
  if (target.kind === 'node') {
    return { target, name: 'the node', podUid: null, sandboxId: null, ids: new Set(), runtime: null };
  }
  const pod = target.kind === 'sandbox' ? target.sandbox.pod : target.remnant.pod;
  const name = pod === null ? null : `${pod.namespace}/${pod.name}`;
  const podUid = pod?.uid ?? null;
  if (target.kind === 'remnant') {
    return {
      target,
      name: name ?? target.asked,
      podUid,
      sandboxId: null,
      ids: marks(target.remnant.ids),
      runtime: null,
    };
  }
  const { id, containers, shims, runtime } = target.sandbox;
  const ids = marks([id, ...containers.map(container => container.id), ...shims.map(shim => shim.id)]);
  return { target, name: name ?? id, podUid, sandboxId: id, ids, runtime };
}

/** A short id of ctr (`ctr run … web`) would be found everywhere in a log. */
function marks(ids: readonly string[]): ReadonlySet<string> {
  return new Set(ids.filter(id => id.length >= 8));
}

export function captureFrom(
  entries: Entries,
  goroutines: readonly ShimGoroutines[] | null,
  logged: ReadonlyMap<LogSource, string>,
  cut: boolean,
): CaptureFacts {
  const { plan, manifest } = entries;
  const { host, startedAt } = plan;
  const { hostname, kernel, architecture, cpus, memoryBytes, uptimeSeconds, timezone } = host;
  return {
    ...{ startedAt, durationMs: manifest?.durationMs ?? null },
    ...{ hostname, kernel, architecture, cpus, memoryBytes, uptimeSeconds },
    ...{ utcOffsetMinutes: timezone.utcOffsetMinutes, timezone: timezone.name },
    cgroupVersion: cgroupVersionOf(entries),
    versions: versionsOf(entries, goroutines, logged),
    notGot: manifest?.notGot ?? [],
    flawed: new Map(
      [...(manifest?.items ?? [])].flatMap(([path, { outcome, detail }]) =>
        outcome === 'ok' || outcome === 'empty' ? [] : [[path, { outcome, detail }] as const],
      ),
    ),
    cut,
  };
}

/** Of the shim; else of what is mounted. */
function cgroupVersionOf(entries: Entries): CaptureFacts['cgroupVersion'] {
  const [membership] = entries.matching(/^shim(?:\/\d+)?\/cgroup$/);
  const { mode } = parseCgroups(entries.text(membership ?? '') ?? '');
  if (mode !== null) return mode === 'v2' ? 2 : mode === 'v1' ? 1 : 'hybrid';
  const types = new Set(parseMountinfo(entries.text('node/mountinfo') ?? '').map(({ type }) => type));
  if (types.has('cgroup')) return types.has('cgroup2') ? 'hybrid' : 1;
  return types.has('cgroup2') ? 2 : null;
}

function versionsOf(
  entries: Entries,
  goroutines: readonly ShimGoroutines[] | null,
  logged: ReadonlyMap<LogSource, string>,
): Versions {
  const crictl = entries.text('runtime/crictl-version.txt') ?? '';
  const docker = entries.text('runtime/docker-version.txt') ?? '';
  const functions =
    goroutines?.flatMap(({ all }) => all.flatMap(({ frames }) => frames.map(frame => frame.function))) ?? [];
  const own = functions.filter(name => name.includes('containerd/containerd/'));
  const isCri = /RuntimeName:\s+containerd/.test(crictl);
  return {
    containerd:
      (isCri ? /RuntimeVersion:\s+v?(\S+)/.exec(crictl)?.[1] : null) ??
      partOf(docker, 'containerd') ??
      logged.get('containerd') ??
      null,
    runc: partOf(docker, 'runc'),
    docker: /Version:[ \t]+(\S+)/.exec(behind(docker, 'Server:'))?.[1] ?? null,
    kubelet: logged.get('kubelet') ?? null,
    shimMajor: own.length === 0 ? null : own.some(name => name.includes('containerd/containerd/v2/')) ? 2 : 1,
  };
}

/** What stands behind the first of these words; nothing where it is not there. */
function behind(text: string, word: string): string {
  const at = text.indexOf(word);
  return at < 0 ? '' : text.slice(at + word.length);
}

/** `docker version` lists its parts: ` containerd:` and the version on the next line. */
function partOf(text: string, part: string): string | null {
  return new RegExp(`^ ${part}:[ \\t]*\\n[ \\t]+Version:[ \\t]+v?(\\S+)`, 'm').exec(text)?.[1] ?? null;
}

export function signalsFrom(manifest: ManifestRecord | null): readonly SignalFact[] | null {
  const signals = manifest?.signals ?? null;
  return (
    signals?.map(signal => ({
      ...signal,
      cite: cite('manifest.json', null, `SIGUSR1 to ${signal.pid}: ${signal.outcome}; dump: ${signal.dump}`),
    })) ?? null
  );
}

export function stuckProbesFrom(manifest: ManifestRecord | null): readonly StuckProbeFact[] | null {
  const probes = manifest?.stuckProbes ?? null;
  return (
    probes?.map(probe => {
      const place = `state ${probe.state ?? '?'}, wchan ${probe.wchan ?? '?'}`;
      const text = `read of ${probe.item} hung for ${Math.round(probe.waitedMs)} ms: ${place}`;
      return { ...probe, cite: cite('manifest.json', null, text) };
    }) ?? null
  );
}
