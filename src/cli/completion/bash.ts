import type { CommandDescription, FlagDescription } from '../command-description.ts';
import { PROGRAM_FLAGS, spellings } from './spellings.ts';

/** bash(1), "Programmable Completion". Where nothing is offered, `-o default` offers files. */
export function bashCompletion(commands: readonly CommandDescription[]): string {
  return `# bash completion for stallcap; for all users: stallcap completion bash > /etc/bash_completion.d/stallcap
_stallcap() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  COMPREPLY=()
  case $command:$previous in
${commands.flatMap(valueCases).join('\n')}
  esac
  case $command in
    '') words='${[...commands.map(({ name }) => name), ...PROGRAM_FLAGS].join(' ')}' ;;
${commands.map(wordCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _stallcap stallcap
`;
}

/** After a flag that takes a value: its options, or files. */
function valueCases({ name, flags }: CommandDescription): string[] {
  return flags.filter(({ takesValue }) => takesValue).map(flag => valueCase(name, flag));
}

function valueCase(command: string, flag: FlagDescription): string {
  const pattern = spellings(flag)
    .map(spelling => `${command}:${spelling}`)
    .join('|');
  const reply = flag.options ? `COMPREPLY=($(compgen -W '${flag.options.join(' ')}' -- "$current")); ` : '';
  return `    ${pattern}) ${reply}return ;;`;
}

function wordCase({ name, args, flags }: CommandDescription): string {
  const words = [...args.flatMap(({ options }) => options ?? []), ...flags.flatMap(spellings), '--help'];
  return `    ${name}) words='${words.join(' ')}' ;;`;
}
