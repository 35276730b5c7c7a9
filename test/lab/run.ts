import { spawn } from 'node:child_process';
import { execa } from 'execa';

/**
 * Runs a program to its end; its output without the last newline, in English whoever runs the tests.
 * @throws ExecaError when it fails or `timeoutMs` pass
 */
export async function run(program: string, args: readonly string[], timeoutMs = 30_000): Promise<string> {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', stdin: 'ignore', env: { LC_ALL: 'C.UTF-8' } } as const;
  const { stdout } = await execa(program, args, options);
  return stdout;
}

/**
 * Runs a program that may fail or hang, for at most `timeoutMs`: one in D state is left behind, not waited for.
 * @returns whether it ended well
 */
export function bounded(program: string, args: readonly string[], timeoutMs: number): Promise<boolean> {
  return new Promise(resolve => {
    const child = spawn(program, args, { stdio: 'ignore' });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      child.unref();
      resolve(false);
    }, timeoutMs);
    const ended = (well: boolean) => {
      clearTimeout(timer);
      resolve(well);
    };
    child.once('error', () => ended(false));
    child.once('exit', code => ended(code === 0));
  });
}
