import { Flags } from '@oclif/core';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { EXIT } from '../src/errors.ts';
import { listAnswer } from '../src/sandbox/list-answer.ts';

export default class List extends BaseCommand {
  static override summary = 'Show the sandboxes of this node, and which of them have blocked threads.';
  static override description =
    'From /proc and the state directories alone: no daemon is asked, so it answers when containerd does not. ' +
    'Exit code 3 with --check when a runtime and the kernel disagree about a container, when a shim has no process below it ' +
    'or a bundle no shim, or when that could not be told; with --probe when a shim does not answer.';
  static override examples = [
    'sudo stallcap list',
    'sudo stallcap list --check --probe',
    "sudo stallcap list --json | jq -r '.sandboxes[] | select(.blocked | length > 0) | .name'",
  ];
  static override flags = {
    check: Flags.boolean({
      summary:
        "Compare each container's CRI status file, and docker's config.v2.json, with /proc, and find lost shims.",
    }),
    probe: Flags.boolean({ summary: 'Ask every shim Connect, which is safe, and say how long it took.' }),
  };

  override async run(): Promise<Answer> {
    const { check, probe } = (await this.parse(List)).flags;
    const { host, firstLook } = this.context;
    const { text, json, agrees, notRead } = await listAnswer(host, firstLook, { check, probe });
    for (const line of notRead) this.say(line);
    return { exit: agrees ? EXIT.complete : EXIT.incomplete, text, json };
  }
}
