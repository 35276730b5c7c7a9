/** Everything that a bundle is judged for, one kind of stall per file. Within a kind of evidence, causes before what follows from them. */
import type { AnyRule } from '../rule.ts';

export const rules: readonly AnyRule[] = [];
