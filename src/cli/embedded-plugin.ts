import { type Command, Config, Plugin } from '@oclif/core';
import { DESCRIPTION, VERSION } from '../version.ts';
import { shownDefault } from './command-description.ts';
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
    this.commands = await Promise.all([...this.#classes].map(([id, command]) => this.#loadable(id, command)));
  }

  override findCommand(id: string, options: { must: true }): Promise<Command.Class>;
  override findCommand(id: string, options?: { must: boolean }): Promise<Command.Class | undefined>;
  override async findCommand(id: string): Promise<Command.Class | undefined> {
    return this.#classes.get(id) as Command.Class | undefined;
  }

  async #loadable(id: string, command: CommandClass): Promise<Command.Loadable> {
    const flags = Object.entries({ ...command.flags, ...command.baseFlags });
    const shown = flags.map(async ([name, flag]) => [name, { ...flag, name, default: await shownDefault(flag) }]);
    const args = Object.entries(command.args).map(([name, arg]) => [name, { ...arg, name }]);
    return {
      id,
      summary: command.summary,
      description: command.description,
      examples: command.examples,
      usage: command.usage,
      args: Object.fromEntries(args),
      flags: Object.fromEntries(await Promise.all(shown)),
      aliases: command.aliases,
      hiddenAliases: command.hiddenAliases,
      hidden: command.hidden,
      strict: command.strict,
      hasDynamicHelp: false,
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
