import { Command, Config, Plugin } from '@oclif/core';
import { DESCRIPTION, VERSION } from '../version.ts';
import type { CommandClass } from './registry.ts';

const PACKAGE = {
  name: 'stallcap',
  version: VERSION,
  description: DESCRIPTION,
  oclif: { bin: 'stallcap', topicSeparator: ' ' as const },
};

/** A name, not a place: nothing is read from it. */
const ROOT = '/stallcap';

/**
 * The commands of one executable as an oclif plugin. oclif finds commands by reading package.json, a manifest and
 * folders; an executable has none of them, and the disk they would lie on may be the one that hangs.
 */
class EmbeddedPlugin extends Plugin {
  readonly #classes: ReadonlyMap<string, CommandClass>;

  constructor(classes: ReadonlyMap<string, CommandClass>) {
    super({ root: ROOT, name: PACKAGE.name, isRoot: true });
    this.#classes = classes;
  }

  override async load(): Promise<void> {
    Object.assign(this, { ...PACKAGE, root: ROOT, type: 'core', alias: PACKAGE.name, pjson: PACKAGE, valid: true });
    Object.assign(this, { isRoot: true, moduleType: 'commonjs', hooks: {}, commandIDs: [...this.#classes.keys()] });
    this.commands = [...this.#classes].map(([id, command]) => this.#loadable(id, command));
  }

  override findCommand(id: string, options: { must: true }): Promise<Command.Class>;
  override findCommand(id: string, options?: { must: boolean }): Promise<Command.Class | undefined>;
  override async findCommand(id: string): Promise<Command.Class | undefined> {
    return this.#classes.get(id) as Command.Class | undefined;
  }

  #loadable(id: string, command: CommandClass): Command.Loadable {
    const named = <T extends object>(members: Record<string, T> | undefined) =>
      Object.fromEntries(Object.entries(members ?? {}).map(([name, member]) => [name, { ...member, name }]));
    return {
      ...(command as unknown as Command.Loadable),
      id,
      summary: command.summary,
      description: command.description,
      examples: command.examples,
      usage: command.usage,
      args: named(command.args) as Command.Loadable['args'],
      flags: named({ ...command.baseFlags, ...command.flags }) as Command.Loadable['flags'],
      aliases: command.aliases,
      hiddenAliases: command.hiddenAliases,
      hidden: command.hidden,
      strict: command.strict,
      pluginName: PACKAGE.name,
      load: () => this.findCommand(id, { must: true }),
    };
  }
}

/** oclif's configuration with these commands and nothing from the disk. */
export async function embeddedConfig(classes: ReadonlyMap<string, CommandClass>): Promise<Config> {
  const plugin = new EmbeddedPlugin(classes);
  await plugin.load();
  return Config.load({ root: ROOT, pjson: PACKAGE, plugins: new Map([[PACKAGE.name, plugin]]) });
}
