import { examine } from '../src/capture/doctor/doctor.ts';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { doctorWords } from '../src/cli/doctor-words.ts';

export default class Doctor extends BaseCommand {
  static override summary = 'Say what this node allows a grab, and what it lacks.';
  static override description =
    'Rights, kernel files, tools, where the executable and the roots of the container runtime lie, room in memory, and where ' +
    'containerd logs to. It signals nobody and writes nothing. Exit code 0: a grab here can be complete; 3: it cannot.';
  static override examples = [
    'sudo stallcap doctor',
    'sudo stallcap doctor --json | jq -r \'.checks[] | select(.outcome != "ok") | .says\'',
  ];

  override async run(): Promise<Answer> {
    await this.parse(Doctor);
    const { host, firstLook } = this.context;
    const json = await examine(host, firstLook);
    return { exit: json.exitCode, text: doctorWords(json), json };
  }
}
