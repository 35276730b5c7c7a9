import type { Answer } from './answer.ts';
import type { Asked } from './arguments.ts';
import { embeddedConfig } from './embedded-plugin.ts';
import { unknownCommand } from './failure.ts';
import { helpAnswer } from './help.ts';
import type { CommandContext } from './registry.ts';

/** Loads the command that was asked for, and it alone, and runs it. */
export async function invoke(asked: Asked, context: CommandContext): Promise<Answer> {
  const { registry } = context;
  const { command: name, help, rest } = asked;
  if (help || name === null) return helpAnswer(registry, name);
  const load = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (!load) throw unknownCommand(name, Object.keys(registry));
  const { default: command } = await load();
  const config = await embeddedConfig(new Map([[name, command]]));
  return new command([...rest], config).answer(context);
}
