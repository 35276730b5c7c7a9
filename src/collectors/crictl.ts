import { ask, cannotAsk, type Interview, type Question, suffixOf } from './ask.ts';
import type { Capture, Collector } from './collector.ts';
import { criApi } from './cri-api.ts';
import { leaveCrictlView } from './crictl-view.ts';
import { addressesOf } from './runtime-places.ts';

/** rke2 and k3s bring their own and may not put it into PATH. */
const PROGRAMS = [
  ['crictl'],
  ['/var/lib/rancher/rke2/bin/crictl'],
  ['k3s', 'crictl'],
  ['/snap/microk8s/current/bin/crictl'],
];
/** A pod with more containers than this is asked about its first ones; the list has them all. */
const MAX_INSPECTED = 12;

/**
 * What CRI says, by crictl, or over CRI's own socket where there is none or it does not speak this containerd's API (from 1.26
 * on it knows no v1alpha2, before 1.23 no v1). `inspect` and `inspectp` only with `--quiet`: without it crictl asks for verbose
 * information, for which containerd calls State of the sandbox's task (a stuck shim keeps a goroutine for it), and which holds
 * every environment value of the container.
 */
export const crictl: Collector = {
  name: 'crictl',
  phase: 'ask',
  deadlineMs: 8000,
  async *collect(capture) {
    if (capture.target.kind === 'sandbox' && capture.target.sandbox.runtime === 'docker') return;
    for (const [index, address] of addressesOf(capture).entries()) {
      const suffix = suffixOf(index);
      const inspected = new Map(inspections(capture).map(({ what, id }) => [entryOf(what, suffix), id]));
      let missing = false;
      for await (const evidence of ask(capture, [interview(capture, address, suffix)])) {
        const id = inspected.get(evidence.path);
        if (id !== undefined) leaveCrictlView(capture, id, evidence);
        const isFirst = evidence.path === entryOf('version', suffix);
        if (evidence.outcome === 'absent' || (isFirst && cannotAsk(evidence))) missing = true;
        yield evidence;
      }
      if (missing) yield* criApi(capture, address, suffix);
    }
  },
};

/** As `ask` names it. */
function entryOf(what: string, suffix: string): string {
  return `runtime/crictl-${what}${suffix}.txt`;
}

function interview(capture: Capture, address: string, suffix: string): Interview {
  const endpoint = ['--runtime-endpoint', `unix://${address}`, '--timeout', '2s'];
  const questions: readonly Question[] = [
    { what: 'version', args: ['version'] },
    { what: 'pods', args: ['pods', '--no-trunc'] },
    { what: 'ps', args: ['ps', '--all', '--no-trunc'] },
    ...inspections(capture),
  ];
  const asked = questions.map(question => ({ ...question, args: [...endpoint, ...question.args] }));
  return { tool: 'crictl', programs: PROGRAMS, suffix, questions: asked };
}

function inspections(capture: Capture): readonly (Question & { readonly id: string })[] {
  if (capture.target.kind !== 'sandbox') return [];
  const { containers, id } = capture.target.sandbox;
  return [
    { what: 'inspectp', args: ['inspectp', '--quiet', id], id },
    ...containers
      .filter(({ kind }) => kind === 'container')
      .slice(0, MAX_INSPECTED)
      .map(container => ({
        what: `inspect-${container.id.slice(0, 12)}`,
        args: ['inspect', '--quiet', container.id],
        id: container.id,
      })),
  ];
}
