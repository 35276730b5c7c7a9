import process from 'node:process';
import { escapeLine } from '../formats/escape.ts';
import type { CommandResult, Host } from '../host/port.ts';

/** A syslog that is well takes a line in a few ms; one that is stopped holds whoever writes. */
const LINE_MS = 1000;

/**
 * One line to syslog, for whoever asks later what was done on this node, and by whom. By logger(1) in a probe: node has no
 * datagram sockets of the unix kind, and a stopped journald holds every writer. Nothing depends on it.
 *
 * @returns 'ok', or why the line was not taken
 */
export async function tellSyslog(host: Pick<Host, 'run'>, text: string): Promise<string> {
  const argv = [
    'logger',
    '-t',
    `stallcap[${process.pid}]`,
    '-p',
    'daemon.notice',
    '--',
    `${escapeLine(text)}, ${who()}`,
  ];
  return outcomeOf(await host.run({ argv, timeoutMs: LINE_MS, maxBytes: 4096 }));
}

/** logger of util-linux complains and ends with 0 where there is no /dev/log. */
function outcomeOf({ outcome, exitCode, detail, stderr }: CommandResult): string {
  const said = stderr.toString('utf8').trim();
  if (exitCode === 0) return said === '' ? 'ok' : said;
  return [outcome, detail, said].filter(Boolean).join(', ');
}

/** From the environment alone, as the manifest has it: asking NSS for a name can hang. */
function who(): string {
  const { SUDO_USER: sudo } = process.env;
  return `by uid ${process.getuid?.() ?? '?'}${sudo === undefined ? '' : ` (sudo of ${escapeLine(sudo)})`}`;
}
