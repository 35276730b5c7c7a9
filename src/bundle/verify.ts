import type { BundleEntry } from './bundle-entry.ts';
import { BundleError } from './bundle-error.ts';
import { compareWithManifest, type Met, parseManifest } from './compare-manifest.ts';
import { BUNDLE_LIMITS, type BundleLimits } from './limits.ts';
import type { Manifest } from './manifest.ts';
import { BundleReader } from './read.ts';
import type { BundleState, Problem, Verification } from './verify-result.ts';

const MANIFEST = 'manifest.json';
/** A manifest of 50,000 items. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** What every bundle ends with. */
const CLOSING = ['SUMMARY.md', MANIFEST];

/**
 * Whether a bundle is what was sealed: each entry's hash, the order, the manifest, the end of the tar and of the gzip
 * stream, and the seal over every byte of the file. Throws only what the source throws.
 */
export async function verifyBundle(
  source: AsyncIterable<Uint8Array>,
  limits: BundleLimits = BUNDLE_LIMITS,
): Promise<Verification> {
  const seen = await readThrough(new BundleReader(source, limits));
  const { met, manifest, reader, refusal } = seen;
  const intact = met.filter(({ state }) => state === 'intact' || state === 'unhashed');
  let problems = [...refusalProblem(refusal), ...entryProblems(met), ...endProblems(seen), ...orderProblems(met)];
  let missing: readonly string[] = [];
  if (manifest === null) {
    const cut = met.filter(({ state }) => state === 'cut').map(({ path }) => path);
    missing = [...cut, ...CLOSING.filter(path => !cut.includes(path) && !intact.some(entry => entry.path === path))];
    if (reader.end !== 'cut' && refusal === null)
      problems.push(problem('no-manifest', MANIFEST, 'is missing or not readable'));
  } else {
    const others = met.filter(({ path }) => path !== MANIFEST);
    const compared = compareWithManifest(others, manifest.items);
    problems = [...problems, ...compared.problems];
    missing = compared.missing;
  }
  const state = stateOf(seen, problems);
  return {
    whole: state === 'whole',
    state,
    folder: seen.folder,
    bytes: reader.packedBytes,
    entries: intact.length,
    lastWhole: intact.at(-1)?.path ?? null,
    manifest: manifest !== null,
    captureOutcome: manifest?.capture.outcome ?? null,
    problems,
    missing: state === 'not a bundle' ? [] : missing,
  };
}

interface Seen {
  readonly reader: BundleReader;
  readonly met: readonly Met[];
  readonly folder: string | null;
  readonly manifest: Pick<Manifest, 'items' | 'capture'> | null;
  readonly refusal: BundleError | null;
}

async function readThrough(reader: BundleReader): Promise<Seen> {
  const met: Met[] = [];
  let folder: string | null = null;
  let manifest: Seen['manifest'] = null;
  let refusal: BundleError | null = null;
  try {
    for await (const entry of reader.entries()) {
      folder = entry.folder;
      const text = entry.path === MANIFEST ? (await entry.read(MAX_MANIFEST_BYTES)).toString('utf8') : null;
      const passed = await passedBy(entry);
      met.push(passed);
      if (text !== null && passed.state !== 'cut' && passed.state !== 'altered') manifest = parseManifest(text);
    }
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    refusal = error;
  }
  return { reader, met, folder, manifest, refusal };
}

async function passedBy(entry: BundleEntry): Promise<Met> {
  return { path: entry.path, bytes: entry.size, ...(await entry.finish()) };
}

function problem(code: string, path: string | null, says: string): Problem {
  return { code, path, says };
}

function refusalProblem(refusal: BundleError | null): Problem[] {
  return refusal === null ? [] : [problem(refusal.code, refusal.path, refusal.says)];
}

function entryProblems(met: readonly Met[]): Problem[] {
  const problems = met
    .filter(({ state }) => state === 'altered')
    .map(({ path }) => problem('altered', path, 'is not what its hash says'));
  const unhashed = met.filter(({ state }) => state === 'unhashed').length;
  if (unhashed > 0)
    problems.push(problem('no-hash', null, `${unhashed} entries have no hash beside them: packed anew`));
  return problems;
}

function endProblems({ reader, met, refusal }: Seen): Problem[] {
  if (refusal !== null) return [];
  const after = met.filter(({ state }) => state !== 'cut').at(-1)?.path;
  const where = after === undefined ? 'before the end of its first entry' : `after ${after}`;
  switch (reader.end) {
    case 'sealed':
      return [];
    case 'unsealed':
      return [problem('no-seal', null, 'the seal at the end is altered or missing: cut there, or packed anew')];
    case 'corrupt':
      return [problem('corrupt', null, `the compressed data is damaged, at the latest ${where}`)];
    default:
      return [problem('cut', null, `the file ends ${where}`)];
  }
}

function orderProblems(met: readonly Met[]): Problem[] {
  const first = met[0]?.path;
  const problems: Problem[] = [];
  if (first !== undefined && first !== 'plan.json') {
    problems.push(problem('plan-not-first', first, 'is the first entry, where plan.json should be'));
  }
  const at = met.findIndex(({ path }) => path === MANIFEST);
  if (at !== -1 && at !== met.length - 1) {
    problems.push(problem('manifest-not-last', MANIFEST, 'is not the last entry'));
  }
  return problems;
}

function stateOf({ met, reader, refusal, manifest }: Seen, problems: readonly Problem[]): BundleState {
  const ours = met.some(({ path }) => path === 'plan.json' || path === MANIFEST);
  if (!ours && (met.length > 0 || refusal !== null || reader.end !== 'cut')) return 'not a bundle';
  if (problems.length === 0) return reader.end === 'sealed' && manifest !== null ? 'whole' : 'damaged';
  return problems.every(({ code }) => code === 'cut') ? 'cut' : 'damaged';
}
