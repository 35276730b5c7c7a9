import type { CommandClass } from './registry.ts';

/** A command as data: for `help --json`, completions, and the test that keeps names and flags stable. */
export interface CommandDescription {
  readonly name: string;
  readonly summary: string;
  readonly args: readonly ArgDescription[];
  readonly flags: readonly FlagDescription[];
  readonly examples: readonly string[];
}

export interface ArgDescription {
  readonly name: string;
  readonly summary: string;
  readonly required: boolean;
  /** The only values it takes. */
  readonly options?: readonly string[];
}

export interface FlagDescription {
  readonly name: string;
  readonly char?: string;
  readonly summary: string;
  readonly takesValue: boolean;
  /** What the value is, as the help says it: '<duration>', '<file>'. */
  readonly value?: string;
  /** `--no-x` is accepted too. */
  readonly allowNo?: true;
  readonly multiple?: true;
  readonly default?: unknown;
  readonly options?: readonly string[];
}

/** What oclif's many flag types have in common here. */
interface AnyFlag {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly helpValue?: string | readonly string[];
  readonly hidden?: boolean;
  readonly allowNo?: boolean;
  readonly multiple?: boolean;
  readonly default?: unknown;
  readonly defaultHelp?: unknown;
  readonly options?: readonly string[];
}

/** The default as a user would write it: '30s', not 30000. */
export async function shownDefault(flag: Pick<AnyFlag, 'default' | 'defaultHelp'>): Promise<unknown> {
  const { default: preset, defaultHelp } = flag;
  if (typeof defaultHelp === 'function') return defaultHelp();
  return typeof preset === 'function' ? undefined : preset;
}

/** A command for completion, by its declaration: what oclif would show of it. */
export async function describeCommand(name: string, command: CommandClass): Promise<CommandDescription> {
  const flags = { ...command.flags, ...command.baseFlags } as Readonly<Record<string, AnyFlag>>;
  return {
    name,
    summary: command.summary ?? '',
    args: Object.entries(command.args).map(([arg, { description, required, options }]) => ({
      name: arg,
      summary: description ?? '',
      required: required === true,
      ...(options && { options }),
    })),
    flags: await Promise.all(
      Object.entries(flags)
        .filter(([, flag]) => !flag.hidden)
        .map(([flag, definition]) => describeFlag(flag, definition)),
    ),
    examples: (command.examples ?? []).map(example => (typeof example === 'string' ? example : example.command)),
  };
}

async function describeFlag(name: string, flag: AnyFlag): Promise<FlagDescription> {
  const { char, summary, description, type, helpValue, allowNo, multiple, options } = flag;
  const preset = await shownDefault(flag);
  return {
    name,
    ...(char && { char }),
    summary: summary ?? description ?? '',
    takesValue: type === 'option',
    ...(typeof helpValue === 'string' && { value: helpValue }),
    ...(allowNo && { allowNo }),
    ...(multiple && { multiple }),
    ...(preset !== undefined && { default: preset }),
    ...(options && { options }),
  };
}
