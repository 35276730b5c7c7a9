import { readFileSync } from 'node:fs';

/** Text of a capture under test/fixtures; its README says where each comes from. */
export function fixture(path: string): string {
  return readFileSync(new URL(`../fixtures/${path}`, import.meta.url), 'utf8');
}
