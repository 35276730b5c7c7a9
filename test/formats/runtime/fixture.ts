import { readFileSync } from 'node:fs';

const STATE = new URL('../../fixtures/state/', import.meta.url);

/** Bytes of a captured state file: '1.6.20/bundle-sandbox/config.json'. */
export function stateBytes(name: string): Buffer {
  return readFileSync(new URL(name, STATE));
}

export function stateText(name: string): string {
  return stateBytes(name).toString('utf8');
}
