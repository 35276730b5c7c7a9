import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('fixtures/program.ts', import.meta.url));
export const ENTRY = fileURLToPath(new URL('../../bin/main.ts', import.meta.url));

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HowToRun {
  readonly script?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly timeoutMs?: number;
}

/** Runs the fixture's program (or another script) as a process of its own. */
export function run(
  args: readonly string[],
  { script = PROGRAM, env = {}, input = '', timeoutMs = 15_000 }: HowToRun = {},
): Ran {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [script, ...args], {
    input,
    timeout: timeoutMs,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
    maxBuffer: 64 << 20,
  });
  if (error) throw error;
  return { status, stdout, stderr };
}
