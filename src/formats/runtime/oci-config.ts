import { objectAt, objectsAt, parseObject, stringAt, textsAt } from './json.ts';

/** The parts of a bundle's config.json that say whose it is: OCI runtime-spec config.md. */
export interface OciConfig {
  readonly annotations: ReadonlyMap<string, string>;
  /** `/kubepods/burstable/pod<uid>/<id>`, or `kubepods-burstable-pod<uid>.slice:cri-containerd:<id>` with systemd. */
  readonly cgroupsPath: string | null;
  /** Destination in the container to source on the node. */
  readonly mounts: ReadonlyMap<string, string>;
}

/** Null when the text is no JSON object. */
export function parseOciConfig(text: string): OciConfig | null {
  const spec = parseObject(text);
  if (spec === null) return null;
  const mounts = new Map<string, string>();
  for (const mount of objectsAt(spec, 'mounts')) {
    const destination = stringAt(mount, 'destination');
    const source = stringAt(mount, 'source');
    if (destination !== null && source !== null) mounts.set(destination, source);
  }
  return {
    annotations: textsAt(spec, 'annotations'),
    cgroupsPath: stringAt(objectAt(spec, 'linux'), 'cgroupsPath'),
    mounts,
  };
}
