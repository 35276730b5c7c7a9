import type { CommandDescription, FlagDescription } from '../command-description.ts';
import { takesFile } from './spellings.ts';

/** fish's complete(1). */
export function fishCompletion(commands: readonly CommandDescription[]): string {
  return [
    '# fish completion for stallcap; for all users: stallcap completion fish > /etc/fish/completions/stallcap.fish',
    'complete -c stallcap -n __fish_use_subcommand -f',
    "complete -c stallcap -l help -d 'Show help.'",
    "complete -c stallcap -n __fish_use_subcommand -l version -d 'Show the version.'",
    ...commands.flatMap(commandLines),
    '',
  ].join('\n');
}

function commandLines({ name, summary, args, flags }: CommandDescription): string[] {
  const inCommand = `complete -c stallcap -n '__fish_seen_subcommand_from ${name}'`;
  return [
    `complete -c stallcap -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...args.flatMap(({ options }) => (options ? [`${inCommand} -f -a ${quote(options.join(' '))}`] : [])),
    ...flags.flatMap(flag => flagLines(flag).map(line => `${inCommand} ${line}`)),
  ];
}

function flagLines(flag: FlagDescription): string[] {
  const { allowNo, char, name, options, summary, takesValue } = flag;
  const values = options ? ` -a ${quote(options.join(' '))}` : '';
  const value = takesValue ? ` ${takesFile(flag) ? '-r -F' : '-x'}${values}` : '';
  const line = `${char ? `-s ${char} ` : ''}-l ${name}${value} -d ${quote(summary)}`;
  return allowNo ? [line, `-l no-${name} -d ${quote(`Not: ${summary}`)}`] : [line];
}

/** In fish's single quotes a backslash escapes itself and the quote. */
function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
