import type { AnyRule, Finding } from './rule.ts';

/** A finding, with the rule that made it. */
export interface JudgedFinding extends Finding {
  /** Id: also the name of docs/rules/<id>.md. */
  readonly rule: string;
  readonly title: string;
  readonly kind: AnyRule['kind'];
}
