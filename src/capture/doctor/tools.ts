import type { CommandResult, Host } from '../../host/port.ts';
import type { RuntimeDaemon } from '../../sandbox/types.ts';
import { type Check, lacks, ok, warn } from './check.ts';

interface Tool {
  readonly name: string;
  readonly argv: readonly string[];
  /** What the right one of several programs of that name says: busybox's ps knows no threads. */
  readonly says?: RegExp;
  /** What a grab does without it. */
  readonly without: string;
}

const TOOLS: readonly Tool[] = [
  { name: 'crictl', argv: ['crictl', '--version'], without: 'what CRI says is not asked by it' },
  { name: 'ctr', argv: ['ctr', '--version'], without: "containerd's own records are not asked for" },
  { name: 'ps', argv: ['ps', '--version'], says: /procps/, without: 'node/processes.txt has no cross-check' },
  { name: 'chrt', argv: ['chrt', '--version'], without: 'a dump may go to containerd where both read' },
  { name: 'perl', argv: ['perl', '-v'], without: 'a large dump may have a hole where containerd reads, too' },
  {
    name: 'taskset',
    argv: ['taskset', '--version'],
    without: 'how long a thread has been blocked is known of one CPU',
  },
  { name: 'journalctl', argv: ['journalctl', '--version'], without: 'logs in the journal are not read' },
  { name: 'logger', argv: ['logger', '--version'], without: 'no line is left in syslog' },
];
const DOCKER: Tool = { name: 'docker', argv: ['docker', '--version'], without: 'what docker says is not asked' };

const ANSWER_MS = 1500;

/** Programs that a grab runs. None of them is needed; one that hangs stands on a disk that does. */
export async function tools(host: Pick<Host, 'run'>, daemons: readonly RuntimeDaemon[]): Promise<readonly Check[]> {
  const wanted = daemons.some(({ kind }) => kind === 'dockerd') ? [...TOOLS, DOCKER] : TOOLS;
  const checks: Check[] = [];
  // One after another: several that hang shall not take all probes at once.
  for (const tool of wanted) checks.push(judge(tool, await host.run({ argv: tool.argv, timeoutMs: ANSWER_MS })));
  return checks;
}

function judge({ name, without, says }: Tool, { outcome, detail, stdout }: CommandResult): Check {
  if (outcome === 'absent') return warn(name, `${name} is not installed: ${without}.`);
  if (outcome === 'timeout') return lacks(name, `${name} does not start: ${detail ?? 'no answer'}`);
  if (says !== undefined && !says.test(stdout.toString('latin1')))
    return warn(name, `${name} is not the one of ${says.source}: ${without}.`);
  // An option that busybox does not know is an answer, too.
  return ok(name, `${name} is there`);
}
