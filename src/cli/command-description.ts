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
  readonly hidden?: boolean;
  readonly allowNo?: boolean;
  readonly multiple?: boolean;
  readonly default?: unknown;
  readonly options?: readonly string[];
}

export function describeCommand(name: string, command: CommandClass): CommandDescription {
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
    flags: Object.entries(flags)
      .filter(([, flag]) => !flag.hidden)
      .map(([flag, definition]) => describeFlag(flag, definition)),
    examples: (command.examples ?? []).map(example => (typeof example === 'string' ? example : example.command)),
  };
}

function describeFlag(name: string, flag: AnyFlag): FlagDescription {
  const { char, summary, description, type, allowNo, multiple, default: preset, options } = flag;
  return {
    name,
    ...(char && { char }),
    summary: summary ?? description ?? '',
    takesValue: type === 'option',
    ...(allowNo && { allowNo }),
    ...(multiple && { multiple }),
    ...(preset !== undefined && typeof preset !== 'function' && { default: preset }),
    ...(options && { options }),
  };
}
