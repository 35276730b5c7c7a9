import type { ArgDescription, CommandDescription, FlagDescription } from '../command-description.ts';
import { PROGRAM_FLAGS, spellings, takesFile } from './spellings.ts';

/** zshcompsys(1), `_arguments` and `_describe`. */
export function zshCompletion(commands: readonly CommandDescription[]): string {
  const names = commands.map(({ name, summary }) => quote(`${name}:${summary}`)).join(' ');
  return `#compdef stallcap
# zsh completion for stallcap; put it into a folder of $fpath as _stallcap, or: source <(stallcap completion zsh)
_stallcap() {
  local state line
  local -a commands
  _arguments -C ${PROGRAM_FLAGS.join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command)
      commands=(${names})
      _describe command commands
      ;;
    rest)
      case $line[1] in
${commands.map(commandCase).join('\n')}
      esac
      ;;
  esac
}
if [[ $funcstack[1] == _stallcap ]]; then _stallcap "$@"; else compdef _stallcap stallcap; fi
`;
}

function commandCase({ name, args, flags }: CommandDescription): string {
  const specs = [...flags.flatMap(flagSpecs), '--help', ...args.map(argSpec)];
  return `        ${name}) _arguments ${specs.map(quote).join(' ')} ;;`;
}

/** '--timeout=[summary]:duration:' for each spelling; a repeated flag is marked with a star. */
function flagSpecs(flag: FlagDescription): string[] {
  const { multiple, name, summary, takesValue, options } = flag;
  const action = options ? `(${options.join(' ')})` : takesFile(flag) ? '_files' : ' ';
  const value = takesValue ? `:${name}:${action}` : '';
  return spellings(flag).map(spelling => {
    const joint = takesValue && spelling.startsWith('--') ? '=' : '';
    return `${multiple ? '*' : ''}${spelling}${joint}[${summary.replace(/[[\]\\:]/g, '\\$&')}]${value}`;
  });
}

function argSpec({ name, options }: ArgDescription): string {
  return `:${name}:${options ? `(${options.join(' ')})` : '_files'}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
