/** What the arguments ask for, read before oclif is loaded: help, version and colours need no parser. */
export interface Asked {
  /** First argument that is not a flag; null when there is none. */
  readonly command: string | null;
  /** The arguments without the command's name. */
  readonly rest: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly noColor: boolean;
}

/**
 * `stallcap --json list` and `stallcap list --json` mean the same: flags that every command has may stand first.
 * After `--` nothing is a flag.
 */
export function readArguments(argv: readonly string[]): Asked {
  const end = argv.indexOf('--');
  const open = end < 0 ? argv : argv.slice(0, end);
  const at = open.findIndex(argument => !argument.startsWith('-'));
  const has = (...flags: string[]) => flags.some(flag => open.includes(flag));
  return {
    command: open[at] ?? null,
    rest: at < 0 ? argv : argv.toSpliced(at, 1),
    help: has('--help', '-h') || argv.length === 0,
    version: at < 0 && has('--version', '-V'),
    json: has('--json'),
    quiet: has('--quiet'),
    debug: has('--debug'),
    noColor: has('--no-color'),
  };
}
