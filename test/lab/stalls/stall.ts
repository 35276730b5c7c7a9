import { type LabFolder, openFolder } from '../folder.ts';

/** Every stall: a folder that holds all of it, and what undoes it. */
export interface Stall extends AsyncDisposable {
  readonly folder: LabFolder;
}

/**
 * Makes a stall in a folder of its own. What `make` puts on the stack is undone first and in reverse order, then
 * the folder ends everything else; both happen also when `make` fails half way.
 */
export async function stalled<Facts extends object>(
  make: (folder: LabFolder, undo: AsyncDisposableStack) => Promise<Facts>,
): Promise<Facts & Stall> {
  await using undo = new AsyncDisposableStack();
  const folder = undo.use(await openFolder());
  const facts = await make(folder, undo);
  const kept = undo.move();
  return { ...facts, folder, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
