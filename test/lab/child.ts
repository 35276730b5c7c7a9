import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { LabFolder } from './folder.ts';

/** A program of the lab that says on stdout how far it is. */
export interface Child {
  readonly pid: number;
  /** The next line of its stdout. @throws Error when it ends before, with its stderr, or `deadlineMs` pass */
  line(deadlineMs: number): Promise<string>;
}

/** Starts a program in a process group of its own and notes it in the folder's ledger. */
export async function startChild(folder: LabFolder, program: string, args: readonly string[] = []): Promise<Child> {
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  child.unref();
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    if (child.pid !== undefined) resolve(child.pid);
  });
  folder.process(pid, program);
  let stderr = '';
  child.stderr.on('data', chunk => {
    stderr += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid,
    line: async deadlineMs => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${program} said nothing for ${deadlineMs} ms`)), deadlineMs);
      });
      const next = await Promise.race([lines.next(), late]).finally(() => clearTimeout(timer));
      if (next.done) throw new Error(`${program} ended: ${stderr.trim()}`);
      return next.value;
    },
  };
}
