/** Which findings follow from others: whoever waits is a consequence of what it waits for. */
import { joinLinks, type Node } from './chain.ts';
import type { JudgedFinding } from './judged-finding.ts';

/**
 * How far each stall that is proved or likely is from its cause, counted in findings: 0 for one that waits for none of the others,
 * 1 for what waits for that, and so on. A finding that tells why it lasts (`tellsWhy`) comes before what it waits for.
 * Others are not in it.
 */
export function distances(findings: readonly JudgedFinding[]): ReadonlyMap<JudgedFinding, number> {
  const { nodes, below } = joinLinks(findings);
  const behind = new Map<JudgedFinding, Set<JudgedFinding>>(findings.map(finding => [finding, new Set()]));
  for (const node of nodes) {
    for (const cause of reached(node, below)) {
      const [first, then] = node.finding.tellsWhy === true ? [node.finding, cause] : [cause, node.finding];
      if (first !== then) behind.get(then)?.add(first);
    }
  }
  const found = new Map<JudgedFinding, number>();
  for (const { finding } of nodes) distance(finding, behind, found);
  return found;
}

/** Findings on the way down from a node. */
function reached(node: Node, below: ReadonlyMap<Node, readonly Node[]>): ReadonlySet<JudgedFinding> {
  const seen = new Set<Node>();
  const walk = (at: Node) => {
    for (const next of below.get(at) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      walk(next);
    }
  };
  walk(node);
  return new Set([...seen].map(({ finding }) => finding));
}

/** Findings that are behind each other (two waits that took the same from two sides) count as one step, wherever the walk begins. */
function distance(
  finding: JudgedFinding,
  behind: ReadonlyMap<JudgedFinding, ReadonlySet<JudgedFinding>>,
  found: Map<JudgedFinding, number>,
): number {
  const known = found.get(finding);
  if (known !== undefined) return known;
  // Meanwhile, for whoever comes round in a circle.
  found.set(finding, 0);
  const causes = [...(behind.get(finding) ?? [])];
  const far = causes.length === 0 ? 0 : 1 + Math.max(...causes.map(cause => distance(cause, behind, found)));
  found.set(finding, far);
  return far;
}
