import type { Registry } from '../src/cli/registry.ts';

/** Every command of stallcap, in the order of the help. This is the only list of them. */
export const commands: Registry = {
  grab: () => import('./grab.ts'),
  list: () => import('./list.ts'),
  doctor: () => import('./doctor.ts'),
  report: () => import('./report.ts'),
  diff: () => import('./diff.ts'),
  show: () => import('./show.ts'),
  redact: () => import('./redact.ts'),
  verify: () => import('./verify.ts'),
  help: () => import('./help.ts'),
  completion: () => import('./completion.ts'),
  version: () => import('./version.ts'),
};
