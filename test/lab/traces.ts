import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names in a directory, none when it is not there. */
const names = (dir: string): string[] => (existsSync(dir) ? readdirSync(dir) : []);

const text = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/**
 * What shims leave outside of their containerd's state directory: the socket (`address` until 1.7, `bootstrap.json`
 * from 2.0) and runc's state, which lies under /run/containerd/runc/<namespace> whatever the state directory is.
 */
export function outsidePaths(stateDirs: readonly string[]): string[] {
  const found = new Set<string>();
  for (const state of stateDirs) {
    for (const runtime of ['io.containerd.runtime.v2.task', 'io.containerd.runtime.v1.linux']) {
      for (const namespace of names(join(state, runtime))) {
        for (const id of names(join(state, runtime, namespace))) {
          const bundle = join(state, runtime, namespace, id);
          const address = /\/run\/containerd\/s\/[0-9a-f]{64}/.exec(
            text(join(bundle, 'address')) + text(join(bundle, 'bootstrap.json')),
          );
          if (address !== null) found.add(address[0]);
          found.add(join('/run/containerd/runc', namespace, id.replace(/^\./, '')));
        }
      }
    }
  }
  return [...found];
}
