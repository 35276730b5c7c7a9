/**
 * The wait chain: one sentence across the layers, joined as far as it is proved. A link of one finding is joined to a link of
 * another where the first waits for what the second is about.
 */
import type { JudgedFinding } from './judged-finding.ts';
import type { Link, Part, Verdict } from './rule.ts';

export interface ChainStep {
  readonly rule: string;
  readonly verdict: Verdict;
  readonly says: string;
}

export interface WaitChain {
  /** From what a user sees down to the cause; one step is a chain too. */
  readonly steps: readonly [ChainStep, ...ChainStep[]];
  /** The steps, joined by ` ← `; those that are likely only say so. */
  readonly sentence: string;
  /** Null when its last step is a cause; else what that waits for, of which nothing is proved: `thread 2631`. */
  readonly endsBefore: string | null;
}

export interface Node {
  readonly link: Link;
  readonly finding: JudgedFinding;
}

/** Guards against the odd finding with hundreds of links: the search is for the longest path. */
const MAX_NODES = 200;

/**
 * The longest chain of the findings that are proved or likely, one that starts at the pod before any other; of equal ones the one with
 * more proved steps. Null without any link.
 *
 * @param isOwn whether a part is of the pod that was captured; what else hangs on the node is not what was asked for
 */
export function waitChain(
  findings: readonly JudgedFinding[],
  isOwn: (part: Part) => boolean = () => true,
): WaitChain | null {
  const { nodes, below } = joinLinks(findings);
  const memo = new Map<Node, readonly Node[]>();
  const paths = nodes.map(node => longest(node, below, memo));
  const startsAtPod = (path: readonly Node[]) => Number(path[0]?.link.about.some(isOwn) === true);
  const [best] = paths.toSorted(
    (a, b) => startsAtPod(b) - startsAtPod(a) || b.length - a.length || proved(b) - proved(a),
  );
  const [first, ...rest] = best?.map(stepOf) ?? [];
  const last = best?.at(-1);
  if (first === undefined || last === undefined) return null;
  const steps: WaitChain['steps'] = [first, ...rest];
  return { steps, sentence: steps.map(wordsOf).join(' ← '), endsBefore: partWords(last.link.waitsFor) };
}

/** The links of the stalls that are proved or likely, and which of them each waits for. */
export function joinLinks(findings: readonly JudgedFinding[]): {
  readonly nodes: readonly Node[];
  readonly below: Below;
} {
  const certain = findings.filter(({ verdict, kind }) => verdict !== 'possible' && kind === 'stall');
  const nodes = certain.flatMap(finding => finding.links.map((link): Node => ({ link, finding }))).slice(0, MAX_NODES);
  return { nodes, below: withoutCycles(nodes) };
}

function isBelow({ link }: Node, other: Node): boolean {
  return link.waitsFor.some(part => other.link.about.includes(part));
}

type Below = ReadonlyMap<Node, readonly Node[]>;

/**
 * What each node waits for. Where findings wait for each other (two rules that took the same wait from two sides), the step that
 * would close the circle is left out. Nodes that nobody waits for are the tops, so the walk starts at them.
 */
function withoutCycles(nodes: readonly Node[]): Below {
  const all = new Map(nodes.map(node => [node, nodes.filter(other => other !== node && isBelow(node, other))]));
  const waited = new Set([...all.values()].flat());
  const below = new Map<Node, readonly Node[]>();
  const open = new Set<Node>();
  const walk = (node: Node) => {
    if (below.has(node)) return;
    open.add(node);
    const kept: Node[] = [];
    for (const next of all.get(node) ?? []) {
      if (open.has(next)) continue;
      kept.push(next);
      walk(next);
    }
    below.set(node, kept);
    open.delete(node);
  };
  for (const node of nodes) if (!waited.has(node)) walk(node);
  for (const node of nodes) walk(node);
  return below;
}

function longest(node: Node, below: Below, memo: Map<Node, readonly Node[]>): readonly Node[] {
  const known = memo.get(node);
  if (known !== undefined) return known;
  let best: readonly Node[] = [];
  for (const next of below.get(node) ?? []) {
    const path = longest(next, below, memo);
    if (path.length > best.length || (path.length === best.length && proved(path) > proved(best))) best = path;
  }
  const whole = [node, ...best];
  memo.set(node, whole);
  return whole;
}

function proved(path: readonly Node[]): number {
  return path.filter(({ finding }) => finding.verdict === 'proved').length;
}

function stepOf({ link, finding }: Node): ChainStep {
  return { rule: finding.rule, verdict: finding.verdict, says: link.says };
}

function wordsOf({ says, verdict }: ChainStep): string {
  return verdict === 'likely' ? `${says} (likely)` : says;
}

function partWords(parts: readonly Part[]): string | null {
  const [part] = parts;
  if (part === undefined) return null;
  const colon = part.indexOf(':');
  const [kind, rest] = [part.slice(0, colon), part.slice(colon + 1)];
  if (kind === 'lock' || kind === 'goroutine')
    return `${kind} ${rest.slice(rest.indexOf(':') + 1)} of ${rest.slice(0, rest.indexOf(':'))}`;
  return `${kind} ${kind === 'belief' || kind === 'task' ? rest.slice(0, 12) : rest}`;
}
