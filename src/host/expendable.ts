import { writeFileSync } from 'node:fs';

/** On a node short of memory the kernel shall take a child of ours first, never a container. Raising needs no right. */
export function volunteerForOom(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // /proc mounted read-only: the default applies.
  }
}
