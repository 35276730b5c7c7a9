import { ask, type Interview, type Question, suffixOf } from './ask.ts';
import type { Capture, Collector } from './collector.ts';
import { addressesOf } from './runtime-places.ts';
import { containerRecordOnly } from './without-env-values.ts';

const PROGRAMS = [
  ['ctr'],
  ['/var/lib/rancher/rke2/bin/ctr'],
  ['k3s', 'ctr'],
  ['k0s', 'ctr'],
  ['/snap/microk8s/current/bin/ctr'],
];
const MAX_ASKED = 12;

/**
 * What containerd's own records say. Only questions that its metadata store answers; never `ctr task …`: `task ls` asks
 * State of every container of the node, two seconds each in a row, and leaves a goroutine behind in every stuck shim;
 * `task metrics` and `task ps` enter the shim as well. Nor `version`: the first of its kind makes containerd write a uuid
 * below its root (plugins/services/introspection), which on a stalled disk hangs, and writes where nothing may be written.
 */
export const ctr: Collector = {
  name: 'ctr',
  phase: 'ask',
  deadlineMs: 8000,
  async *collect(capture) {
    yield* ask(
      capture,
      addressesOf(capture).map((address, index) => interview(capture, address, suffixOf(index))),
    );
  },
};

function interview(capture: Capture, address: string, suffix: string): Interview {
  const globals = ['--address', address, '--connect-timeout', '2s', '--timeout', '3s'];
  const questions = [
    { what: 'namespaces', args: ['namespaces', 'ls'] },
    ...namespacesOf(capture).map(namespace => ({
      what: `containers-${namespace}`,
      args: ['--namespace', namespace, 'containers', 'ls'],
    })),
    ...records(capture),
  ];
  const asked = questions.map(question => ({ ...question, args: [...globals, ...question.args] }));
  return { tool: 'ctr', programs: PROGRAMS, suffix, questions: asked };
}

/** `-n` must be named: ctr's default namespace is neither Kubernetes' nor docker's. */
function namespacesOf(capture: Capture): readonly string[] {
  if (capture.target.kind === 'sandbox') return [capture.target.sandbox.namespace];
  const seen = capture.inventory.sandboxes.map(({ namespace }) => namespace);
  return [...new Set(seen.length > 0 ? seen : ['k8s.io'])];
}

function records(capture: Capture): readonly Question[] {
  if (capture.target.kind !== 'sandbox') return [];
  const { containers, namespace } = capture.target.sandbox;
  return containers.slice(0, MAX_ASKED).map(({ id }) => ({
    what: `info-${id.slice(0, 12)}`,
    args: ['--namespace', namespace, 'containers', 'info', id],
    redact: containerRecordOnly,
  }));
}
