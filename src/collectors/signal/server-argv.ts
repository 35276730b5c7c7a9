import { parseShimArgv } from '../../formats/runtime/shim-argv.ts';

/**
 * Is this the command line of a shim *server*? Its helpers carry the same flags and, as positional argument, `start` or
 * `delete`; a signal to them is of no use and a `delete` may hang itself. Rather refuses a server than takes a helper for
 * one: an action behind a flag that is not known here counts as an action, not as the flag's value.
 *
 * @returns null for a server, else why it is none
 */
export function whyNoServer(argv: readonly string[]): string | null {
  const program = argv[0]?.split('/').at(-1) ?? '';
  if (!/^(docker-)?containerd-shim/.test(program)) return `its program is ${program || 'not named'}, which is no shim`;
  const { action } = parseShimArgv(argv);
  if (action !== 'server') return `it is no server but a helper: ${argv.join(' ')}`;
  const last = argv.at(-1);
  return last === 'start' || last === 'delete' ? `it is no server but a helper: it ends in ${last}` : null;
}
