import { EXIT } from '../errors.ts';
import type { Answer } from './answer.ts';
import { describeCommand } from './command-description.ts';
import { embeddedConfig } from './embedded-plugin.ts';
import { unknownCommand } from './failure.ts';
import { HelpText } from './help-text.ts';
import type { CommandClass, Registry } from './registry.ts';

/** Help for one command, or for all of them (`name` null). With --json: the commands with their flags, as data. */
export async function helpAnswer(registry: Registry, name: string | null): Promise<Answer> {
  if (name !== null && !Object.hasOwn(registry, name)) throw unknownCommand(name, Object.keys(registry));
  const classes = await loadCommands(registry, name);
  const text = new HelpText(await embeddedConfig(classes), [...classes.keys()]);
  return {
    exit: EXIT.complete,
    text: name === null ? text.program() : text.one(name),
    json: { commands: await Promise.all([...classes].map(([id, command]) => describeCommand(id, command))) },
  };
}

/** The classes of all commands, or of one, in the registry's order. */
export async function loadCommands(registry: Registry, only: string | null = null): Promise<Map<string, CommandClass>> {
  const wanted = Object.entries(registry).filter(([name]) => only === null || name === only);
  return new Map(await Promise.all(wanted.map(async ([name, load]) => [name, (await load()).default] as const)));
}
