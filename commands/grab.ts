import { resolve } from 'node:path';
import { Args, Flags } from '@oclif/core';
import { grabNode } from '../src/capture/grab-node.ts';
import { planNode } from '../src/capture/plan-node.ts';
import { SILENT } from '../src/capture/progress.ts';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { count, duration, size } from '../src/cli/flags.ts';
import { exitCodeOf, grabResult, grabWords } from '../src/cli/grab-answer.ts';
import { outputChoice } from '../src/cli/output-choice.ts';
import { planWords } from '../src/cli/plan-words.ts';
import { skippedCollectors } from '../src/cli/skipped-collectors.ts';
import { EXIT, StallcapError } from '../src/errors.ts';
import { printable } from '../src/formats/escape.ts';
import { watchForInterruption } from '../src/host/interruption.ts';
import { operator } from '../src/host/operator.ts';
import type { Place } from '../src/host/output.ts';
import { selfCommand } from '../src/host/self.ts';
import { openOutput } from '../src/host/writer/output.ts';
import { startWriter } from '../src/host/writer/writer-process.ts';

/** Who asks for both may believe to have the pod. */
function nodeWithTarget(target: string): StallcapError {
  return new StallcapError(`--node captures the node alone, and ${printable(target)} would be left out.`, {
    ...{ code: 'node-with-target', exit: EXIT.usage },
    next: ['Leave out --node: a grab of a pod has the node as well.'],
  });
}

export default class Grab extends BaseCommand {
  static override summary = 'Capture why a pod is stuck, before its shim is gone.';
  static override description =
    'TARGET is a sandbox or container id or a prefix of one, namespace/pod, pod, a pod uid, or pid:<n> of a process or thread. Without it the one ' +
    'sandbox that looks stuck is taken. Exit code 0: complete; 2: several may be meant, and are listed; 3: some evidence is ' +
    'missing, and what and why is printed; 4: no such target here; 5: a right is missing.';
  static override examples = [
    'sudo stallcap grab shop/web-0',
    'ssh node7 sudo stallcap grab web-0 -o - > web-0.tgz',
    'sudo stallcap grab 4f5e6d7c --no-signal --samples 5 -o /mnt/usb/',
    'sudo stallcap grab --node --note "PLEG unhealthy since 03:12"',
  ];
  static override args = {
    target: Args.string({ description: 'Who is stuck: an id, namespace/pod, pod, uid or pid:<n>.' }),
  };
  static override flags = {
    output: Flags.string({
      char: 'o',
      summary: 'File, directory with a trailing /, or - for standard output.',
      helpValue: '<path>',
    }),
    node: Flags.boolean({ summary: 'Capture the node alone.', default: false }),
    timeout: duration({
      summary: 'End of the whole run; what is there by then is sealed. More than 30s gives its parts more time, too.',
      default: '30s',
    }),
    samples: count({ summary: 'Rounds of samples after the first look.', default: 3, min: 0, max: 1000 }),
    interval: duration({ summary: 'From one round to the next.', default: '1s' }),
    since: duration({ summary: 'How far back logs are taken.', default: '30m' }),
    'max-size': size({ summary: 'Of the compressed bundle; logs are dropped first.', default: '128MiB' }),
    signal: Flags.boolean({ summary: 'Send SIGUSR1 to the shim, through its guards.', default: true, allowNo: true }),
    'force-signal': Flags.boolean({
      summary: 'Signal though a thread of the shim may not be able to stop.',
      default: false,
    }),
    'signal-again': Flags.boolean({
      summary: 'Signal though another grab has signalled the shim in the last 10 seconds.',
      default: false,
    }),
    daemons: Flags.boolean({
      summary: 'Ask containerd and dockerd for their goroutines, too: SIGUSR1, through guards.',
      default: false,
    }),
    'dry-run': Flags.boolean({
      summary: 'Print what would be tried; capture nothing, signal nobody.',
      default: false,
    }),
    skip: Flags.string({
      summary: 'Collectors to leave out, by the names that --dry-run prints.',
      helpValue: 'a,b',
      default: '',
    }),
    note: Flags.string({ summary: 'A sentence for the manifest.', helpValue: '<text>' }),
    attach: Flags.string({
      summary: 'A file with what `kubectl describe pod` or `kubectl get events` says; may be given more than once.',
      helpValue: '<file>',
      multiple: true,
    }),
    redact: Flags.boolean({ summary: 'Take secrets out of what is captured.', default: true, allowNo: true }),
  };

  override async run(): Promise<Answer> {
    const { args, flags } = await this.parse(Grab);
    if (flags.node && args.target !== undefined) throw nodeWithTarget(args.target);
    const output = outputChoice(flags.output, { isTerminal: process.stdout.isTTY, json: flags.json });
    const { argv, host, firstLook, interruption = watchForInterruption() } = this.context;
    const look = firstLook ?? { matchedBy: 'all', shims: [], firstStackMs: null };
    const request = {
      ...{ asked: args.target ?? null, nodeOnly: flags.node, output, redact: flags.redact, argv },
      options: {
        ...{ timeoutMs: flags.timeout, samples: flags.samples, intervalMs: flags.interval, sinceMs: flags.since },
        ...{ maxBytes: flags['max-size'], signal: flags.signal, forceSignal: flags['force-signal'] },
        signalAgain: flags['signal-again'],
        daemons: flags.daemons,
        ...{ skip: skippedCollectors(flags.skip), note: flags.note ?? null },
        attach: (flags.attach ?? []).map(path => resolve(path)),
      },
    };
    if (flags['dry-run']) {
      const machine = { host, firstLook: look, progress: SILENT, interruption };
      const planned = await planNode(request, machine, { operator: operator() });
      return { exit: EXIT.complete, text: planWords(planned), json: planned.plan };
    }
    // Ready by the time when it is known who is meant. What goes to stdout is a writer's that has stdout open.
    const warm = output.kind === 'stdout' ? undefined : startWriter(selfCommand(), null);
    const open = (places: readonly Place[]) => openOutput(places, warm === undefined ? {} : { warm });
    const progress = this.openProgress();
    const tools = { openOutput: open, operator: operator(), say: (line: string) => this.say(line) };
    const grabbed = await grabNode(request, { host, firstLook: look, progress, interruption }, tools).finally(() =>
      progress.close(),
    );
    interruption.release();
    this.say(grabWords(grabbed));
    const path = grabbed.sealed.path;
    return {
      exit: exitCodeOf(grabbed),
      // A bundle that began on stdout and ended elsewhere leaves a torn tar there: no word after it.
      text: path === null || output.kind === 'stdout' ? '' : `${path}\n`,
      json: grabResult(grabbed, look.firstStackMs),
    };
  }
}
