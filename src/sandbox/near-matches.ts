import leven from 'leven';
import { bare } from './matches.ts';
import type { Sandbox } from './types.ts';

/** Sandboxes that may have been meant, nearest first: a few typing errors, a part of a name, the beginning of an id. */
export function nearMatches(asked: string, sandboxes: readonly Sandbox[], most = 5): readonly Sandbox[] {
  const word = bare(asked).toLowerCase();
  return sandboxes
    .map(sandbox => ({ sandbox, distance: Math.min(...namesOf(sandbox).map(name => distanceOf(word, name))) }))
    .filter(({ distance }) => distance <= allowance(word))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, most)
    .map(({ sandbox }) => sandbox);
}

/** Two errors in a short word, one in four characters of a long one. */
function allowance(word: string): number {
  return Math.max(2, Math.floor(word.length / 4));
}

function namesOf({ id, pod, containers }: Sandbox): readonly string[] {
  const ofPod = pod === null ? [] : [pod.name, `${pod.namespace}/${pod.name}`, pod.uid ?? ''];
  return [id, ...ofPod, ...containers.flatMap(container => [container.id, container.name ?? ''])].filter(Boolean);
}

function distanceOf(word: string, name: string): number {
  const other = name.toLowerCase();
  if (word.length >= 3 && other.includes(word)) return 0.5;
  // A name is compared with its own length: nobody types 64 digits wrong, but the first twelve.
  return leven(word, other.length > 40 ? other.slice(0, word.length) : other, { maxDistance: allowance(word) + 1 });
}
