import type { Target } from '../sandbox/types.ts';

/**
 * `stallcap-<host>-<pod or first 12 of the id>-<UTC stamp>`: the folder inside the tar and the file's stem.
 * What comes from a container or a remote name is cut to [A-Za-z0-9._-], 40 characters.
 */
export function bundleName(hostname: string, target: Target, startedAt: string): string {
  const stamp = startedAt.replace(/[-:]/g, '').replace(/\.\d+Z$/, 'Z');
  return ['stallcap', safe(hostname.split('.')[0] ?? ''), safe(subject(target)), stamp].join('-');
}

function subject(target: Target): string {
  switch (target.kind) {
    case 'sandbox':
      return target.sandbox.pod?.name ?? target.sandbox.id.slice(0, 12);
    case 'remnant':
      return target.remnant.pod?.name ?? target.asked.slice(0, 12);
    case 'node':
      return 'node';
  }
}

function safe(text: string): string {
  const kept = text
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[.-]+/, '')
    .slice(0, 40);
  return kept === '' ? 'unnamed' : kept;
}
